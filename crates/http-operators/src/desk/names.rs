//! What operators call users and wallets, on every page of the desk: a view says whose name it shows, and the names of a
//! page are looked up at once when it is shown.

use countersign_domain::act::ActField;
use countersign_domain::event::Actor;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_operators::people::names::{Names, own_name};
use countersign_ports::{DirectStorage, StoreError};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::sent::Sent;

/// The members of a name that is not looked up yet.
const KEY: &str = "the name of";
const OR: &str = "or";

/// The name of the first of these that has one, or else a text.
#[derive(Clone, Debug)]
pub(super) struct NameOf {
    who: Vec<Subject>,
    or: Option<String>,
}

/// A user.
#[derive(Clone, Debug, Serialize)]
pub(super) struct UserView {
    id: String,
    name: NameOf,
}

impl UserView {
    pub(super) fn of(user: UserId) -> Self {
        Self { id: user.to_string(), name: NameOf::user(user) }
    }
}

impl NameOf {
    /// A text that is no one's name.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { who: Vec::new(), or: Some(text.into()) }
    }

    pub(super) fn user(user: UserId) -> Self {
        Self { who: vec![Subject::User(user)], or: None }
    }

    pub(super) fn wallet(account: &WalletAccount) -> Self {
        Self { who: vec![Subject::Wallet(account.clone())], or: None }
    }

    /// What is shown of someone without a name.
    pub(super) fn or(self, text: String) -> Self {
        Self { or: Some(text), ..self }
    }

    /// The operator who acted, if it was one with a wallet.
    pub(super) fn actor(actor: &Actor) -> Self {
        Self { who: actor.accounts().into_iter().map(Subject::Wallet).collect(), or: None }
    }

    /// The same of what signed, by CAIP-10.
    pub(super) fn signer(wallet: &str) -> Self {
        Self::actor(&Actor::Wallet(wallet.to_owned()))
    }
}

impl Serialize for NameOf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = |who: &Subject| match who {
            Subject::User(user) => vec![user.to_string()],
            Subject::Wallet(WalletAccount { family, chain, address }) => {
                vec![family.clone(), chain.clone(), address.clone()]
            }
        };
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(KEY, &self.who.iter().map(parts).collect::<Vec<_>>())?;
        map.serialize_entry(OR, &self.or)?;
        map.end()
    }
}

/// What a page knows of its subject: who it is, and their own name.
pub(super) async fn known(storage: &dyn DirectStorage, who: &Subject) -> Result<Sent, StoreError> {
    let own = own_name(storage, who.clone()).await?;
    Ok(Sent::of_who(who).with(ActField::PersonName, own))
}

/// A place in a page where a name belongs.
struct Slot<'a> {
    place: &'a mut Value,
    who: Vec<Subject>,
    or: Value,
}

/// Puts the names into a page. What has none becomes null.
pub(super) async fn fill(storage: &dyn DirectStorage, page: &mut Value) -> Result<(), StoreError> {
    let mut slots = Vec::new();
    find(page, &mut slots);
    if slots.is_empty() {
        return Ok(());
    }
    let names = Names::of(storage, slots.iter().flat_map(|slot| slot.who.iter().cloned())).await?;
    for Slot { place, who, or } in slots {
        let name = who.iter().find_map(|who| names.text(who));
        *place = name.map_or(or, Value::from);
    }
    Ok(())
}

fn find<'a>(value: &'a mut Value, slots: &mut Vec<Slot<'a>>) {
    if let Some((who, or)) = not_looked_up(value) {
        return slots.push(Slot { place: value, who, or });
    }
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| find(member, slots)),
        Value::Array(items) => items.iter_mut().for_each(|item| find(item, slots)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn not_looked_up(value: &Value) -> Option<(Vec<Subject>, Value)> {
    let members = value.as_object().filter(|members| members.len() == 2)?;
    let (all, or) = (members.get(KEY)?.as_array()?, members.get(OR)?);
    Some((all.iter().map(subject).collect::<Option<_>>()?, or.clone()))
}

fn subject(parts: &Value) -> Option<Subject> {
    let parts: Option<Vec<&str>> = parts.as_array()?.iter().map(Value::as_str).collect();
    match parts?.as_slice() {
        [user] => UserId::parse(user).map(Subject::User),
        [family, chain, address] => {
            let [family, chain, address] = [family, chain, address].map(|part| (*part).to_owned());
            Some(Subject::Wallet(WalletAccount { family, chain, address }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use countersign_conformance::fixtures;
    use countersign_conformance::memory::MemoryStorage;
    use countersign_domain::person_name::PersonName;
    use countersign_ports::{NameSubject, PeopleStore};
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn every_name_of_a_page_is_looked_up_wherever_it_is_and_nothing_else_changes() {
        let storage = MemoryStorage::default();
        let wallet = fixtures::wallet_account();
        let name = PersonName::parse("Ann \"the boss\" <b>").ok();
        let command = NameSubject { who: Subject::Wallet(wallet.clone()), name, event: None };
        storage.name_subject(command).await.unwrap();
        let (user, signer) = (fixtures::user_id(), NameOf::signer(&wallet.caip10()));
        let mut page = json!({
            "rows": [{"user": UserView::of(user)}, {"wallet": {"name": NameOf::wallet(&wallet)}}],
            "by": signer,
            "nobody": NameOf::actor(&Actor::Server),
            "instead": NameOf::user(user).or("0xab…cd".to_owned()),
            "said": {"the name of": "a text that someone wrote", "or": 1},
        });
        fill(&storage, &mut page).await.unwrap();
        let expected = json!({
            "rows": [
                {"user": {"id": user.to_string(), "name": null}},
                {"wallet": {"name": "Ann \"the boss\" <b>"}},
            ],
            "by": "Ann \"the boss\" <b>",
            "nobody": null,
            "instead": "0xab…cd",
            "said": {"the name of": "a text that someone wrote", "or": 1},
        });
        assert_eq!(page, expected);
    }
}
