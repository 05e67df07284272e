//! What operators call users and wallets: they give the names, and read them wherever an id or an address would be.

use std::collections::BTreeMap;

use countersign_domain::event::{Actor, Event, EventKind, EventPerson};
use countersign_domain::id::UserId;
use countersign_domain::person_name::PersonName;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{DirectStorage, NamePut, NameSubject, NamedPerson, StoreError};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

/// How many names are looked up at once, or read of all that there are.
const PAGE: u32 = 500;

/// Gives a user or a wallet a name, or takes it away.
pub async fn name_subject(
    management: Management<'_>,
    who: Subject,
    name: Option<PersonName>,
) -> Result<NamePut, ActRefused> {
    let kind = match &who {
        Subject::User(_) => EventKind::UserNamed,
        Subject::Wallet(_) => EventKind::WalletNamed,
    };
    // The name is not in the event: it goes with the account, and the event stays.
    let event = management.event(management.clock.now(), kind, |event| who.tell(event));
    let unknown = match &who {
        Subject::User(user) => Some(*user),
        Subject::Wallet(_) => None,
    };
    let put = management.storage.name_subject(NameSubject { who, name, event }).await?;
    match unknown.filter(|_| put == NamePut::UserUnknown) {
        Some(user) => Err(ActRefused::UserUnknown(user)),
        None => Ok(put),
    }
}

/// The names of some users and wallets.
#[derive(Clone, Debug, Default)]
pub struct Names {
    users: BTreeMap<UserId, PersonName>,
    wallets: BTreeMap<(String, String), PersonName>,
}

impl Names {
    /// Looks up what operators call these.
    pub async fn of(
        storage: &dyn DirectStorage,
        who: impl IntoIterator<Item = Subject>,
    ) -> Result<Self, StoreError> {
        let mut asked: Vec<Subject> = who.into_iter().collect();
        asked.sort_by_key(key);
        asked.dedup_by(|one, other| one.is_same(other));
        let mut names = Self::default();
        for page in asked.chunks(PAGE as usize) {
            let found = storage.names_of(page.to_vec()).await?;
            for (who, name) in page.iter().zip(found) {
                names.add(who, name.map(|known| known.name));
            }
        }
        Ok(names)
    }

    fn add(&mut self, who: &Subject, name: Option<PersonName>) {
        match (who, name) {
            (_, None) => {}
            (Subject::User(user), Some(name)) => drop(self.users.insert(*user, name)),
            (Subject::Wallet(wallet), Some(name)) => drop(self.wallets.insert(key_of(wallet), name)),
        }
    }

    /// What operators call a user or a wallet.
    pub fn name(&self, who: &Subject) -> Option<&PersonName> {
        match who {
            Subject::User(user) => self.users.get(user),
            Subject::Wallet(wallet) => self.wallets.get(&key_of(wallet)),
        }
    }

    /// What operators call the one of them who acted.
    pub fn of_actor(&self, actor: &Actor) -> Option<&str> {
        let mut accounts = actor.accounts().into_iter().map(Subject::Wallet);
        accounts.find_map(|account| self.name(&account)).map(PersonName::as_str)
    }

    /// The same as text.
    pub fn text(&self, who: &Subject) -> Option<&str> {
        self.name(who).map(PersonName::as_str)
    }
}

/// The name that operators gave this user or wallet itself: a wallet's is not its user's.
pub async fn own_name(storage: &dyn DirectStorage, who: Subject) -> Result<Option<PersonName>, StoreError> {
    let known = storage.names_of(vec![who]).await?.into_iter().next().flatten();
    Ok(known.filter(|known| known.is_own).map(|known| known.name))
}

/// Who an event is about, and who acted.
pub fn people_of(event: &Event) -> Vec<Subject> {
    let user = match event.person {
        Some(EventPerson::User(user)) => Some(Subject::User(user)),
        Some(EventPerson::Deleted(_)) | None => None,
    };
    let wallet = event.wallet.clone().map(Subject::Wallet);
    let actor = event.actor.accounts().into_iter().map(Subject::Wallet);
    user.into_iter().chain(wallet).chain(actor).collect()
}

fn key_of(wallet: &WalletAccount) -> (String, String) {
    (wallet.family.clone(), wallet.address.clone())
}

fn key(who: &Subject) -> (Option<UserId>, Option<(String, String)>) {
    match who {
        Subject::User(user) => (Some(*user), None),
        Subject::Wallet(wallet) => (None, Some(key_of(wallet))),
    }
}

/// Everyone who has a name of their own.
pub(crate) async fn all_named(storage: &dyn DirectStorage) -> Result<Vec<NamedPerson>, StoreError> {
    let mut all: Vec<NamedPerson> = Vec::new();
    loop {
        let page = storage.list_named(all.last().map(|last| &last.who), PAGE).await?;
        let is_last = page.len() < PAGE as usize;
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}
