//! What happened, as a sentence: a text of the language, and what belongs into its places, with links.

use std::collections::BTreeMap;

use countersign_domain::event::{Actor, Event, EventKind, EventPerson};
use countersign_domain::id::ClientId;
use serde::Serialize;
use serde_json::{Map, Value};

use super::names::NameOf;
use super::query::segment;
use super::view::wallet_path;

/// How much of the id of a user without a name and a wallet is shown.
const SHOWN_ID: usize = 8;

/// An event as a sentence.
#[derive(Serialize)]
pub(super) struct Happened {
    /// The key of the text.
    key: &'static str,
    /// What belongs into its places, by their names.
    parts: BTreeMap<&'static str, Part>,
    /// The key of what else than a wallet the operator used.
    from: Option<&'static str>,
}

/// What belongs into a place.
#[derive(Clone, Serialize)]
struct Part {
    text: Option<NameOf>,
    /// The key of a text that says it.
    word: Option<&'static str>,
    /// Its page, below `/admin`.
    path: Option<String>,
}

impl Part {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: Some(NameOf::text(text)), word: None, path: None }
    }

    fn named(name: NameOf, path: String) -> Self {
        Self { text: Some(name), word: None, path: Some(path) }
    }

    const fn word(key: &'static str) -> Self {
        Self { text: None, word: Some(key), path: None }
    }
}

impl Happened {
    /// `clients` are the names of clients that are known.
    pub(super) fn of(event: &Event, clients: &BTreeMap<ClientId, String>) -> Self {
        let client = event.client.map(|id| {
            let name = clients.get(&id).cloned().unwrap_or_else(|| id.to_string());
            Part { path: Some(format!("/clients/{id}")), ..Part::plain(name) }
        });
        let wallet = event.wallet.as_ref().map(|account| {
            Part::named(NameOf::wallet(account).or(account.shortened()), wallet_path(account))
        });
        let who = match &event.person {
            Some(EventPerson::User(user)) => {
                let id = user.to_string();
                let beginning = || format!("{}…", id.get(..SHOWN_ID).unwrap_or_default());
                let instead = event.wallet.as_ref().map_or_else(beginning, |account| account.shortened());
                Some(Part::named(NameOf::user(*user).or(instead), format!("/people/{id}")))
            }
            Some(EventPerson::Deleted(_)) => Some(Part::word("deleted")),
            None => wallet.clone(),
        };
        let (by, from) = match &event.actor {
            Actor::Person => (who.clone(), None),
            Actor::Client => (client.clone(), None),
            Actor::Server => (Some(Part::word("server")), None),
            Actor::CommandLine(name) => (Some(Part::plain(name)), Some("cli")),
            Actor::Key(name) => (Some(Part::plain(name)), Some("key")),
            Actor::File(path) => (Some(Part::plain(path)), Some("file")),
            Actor::Wallet(name) => {
                let account = event.actor.accounts().into_iter().next();
                let instead = account.map_or_else(|| name.clone(), |account| account.shortened());
                let path = format!("/wallets/{}", segment(name));
                (Some(Part::named(NameOf::actor(&event.actor).or(instead), path)), None)
            }
        };
        let parts = [("by", by), ("who", who), ("wallet", wallet), ("client", client)];
        let parts = parts.into_iter().filter_map(|(place, part)| Some((place, part?)));
        Self { key: key_of(event), parts: parts.chain(details(event)).collect(), from }
    }
}

/// What its details name, by the places of the texts.
fn details(event: &Event) -> impl Iterator<Item = (&'static str, Part)> {
    let values: Map<String, Value> = serde_json::from_str(event.details.as_str()).unwrap_or_default();
    ["group", "resource", "key", "host"].into_iter().filter_map(move |place| {
        let value = values.get(place)?.as_str()?;
        let path = (place == "group").then(|| format!("/groups/{}", segment(value)));
        Some((place, Part { path, ..Part::plain(value) }))
    })
}

/// The key of the text.
fn key_of(event: &Event) -> &'static str {
    let found = OTHER_TEXTS.iter().find(|(kind, is_so, _)| *kind == event.kind && is_so(event));
    found.map_or(event.kind.name(), |(_, _, key)| key)
}

/// A kind, when it reads differently, and the key of the other text.
type OtherText = (EventKind, fn(&Event) -> bool, &'static str);

/// Where the same kind reads differently.
pub(super) const OTHER_TEXTS: [OtherText; 6] = [
    (EventKind::SignIn, |event| event.client.is_none(), "sign_in_account"),
    (EventKind::GrantRevoked, |event| event.client.is_none(), "grant_revoked_all"),
    (EventKind::AccountDeleted, |event| event.actor != Actor::Person, "account_deleted_operator"),
    (EventKind::ClientRegistered, |event| event.actor == Actor::Client, "client_registered_self"),
    (EventKind::ClientChanged, |event| event.actor == Actor::Client, "client_changed_self"),
    (EventKind::ClientDeleted, |event| event.actor == Actor::Client, "client_deleted_self"),
];
