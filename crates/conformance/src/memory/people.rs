//! What an operator sees of people.

use std::cmp::Reverse;

use async_trait::async_trait;
use countersign_domain::id::UserId;
use countersign_domain::person_name::{PersonName, folded};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    FindWallets, KnownName, MemberCursor, NamePut, NameSubject, NamedPerson, PeopleFilter, PeopleOrder,
    PeopleStore, Person, PersonListed, PersonPlace, SortPeople, SortedPeople, StoreError, Total, UserSeen,
};
use time::OffsetDateTime;

use super::wallets::{account_of, key_of};
use super::{MemoryStorage, Tables, count};

/// What operators call a wallet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedRow {
    pub(super) chain: String,
    pub(super) name: PersonName,
}

#[async_trait]
impl PeopleStore for MemoryStorage {
    async fn name_subject(&self, command: NameSubject) -> Result<NamePut, StoreError> {
        let mut tables = self.tables_for(command.event.as_deref())?;
        let NameSubject { who, name, event } = command;
        let present = match &who {
            Subject::User(user) if !tables.users.contains_key(user) => return Ok(NamePut::UserUnknown),
            Subject::User(user) => tables.named_users.get(user),
            Subject::Wallet(wallet) => tables.named_wallets.get(&key_of(wallet)).map(|row| &row.name),
        };
        if present == name.as_ref() {
            return Ok(NamePut::AlreadySo);
        }
        tables.record(event)?;
        match (who, name) {
            (Subject::User(user), Some(name)) => drop(tables.named_users.insert(user, name)),
            (Subject::User(user), None) => drop(tables.named_users.remove(&user)),
            (Subject::Wallet(wallet), Some(name)) => {
                let row = tables.named_wallets.entry(key_of(&wallet));
                let chain = wallet.chain;
                let row = row.or_insert_with(|| NamedRow { chain, name: name.clone() });
                row.name = name;
            }
            (Subject::Wallet(wallet), None) => drop(tables.named_wallets.remove(&key_of(&wallet))),
        }
        Ok(NamePut::Stored)
    }

    async fn names_of(&self, who: Vec<Subject>) -> Result<Vec<Option<KnownName>>, StoreError> {
        let tables = self.tables();
        let of_user = |user: &UserId| tables.named_users.get(user);
        let of_wallet =
            |wallet: &WalletAccount| tables.named_wallets.get(&key_of(wallet)).map(|row| &row.name);
        let own = |name: Option<&PersonName>| name.map(|name| KnownName { name: name.clone(), is_own: true });
        let other =
            |name: Option<&PersonName>| name.map(|name| KnownName { name: name.clone(), is_own: false });
        let name_of = |who: &Subject| match who {
            Subject::User(user) => own(of_user(user)).or_else(|| {
                let theirs = tables.wallets_of(*user);
                other(theirs.iter().find_map(|linked| of_wallet(&linked.account)))
            }),
            Subject::Wallet(wallet) => own(of_wallet(wallet))
                .or_else(|| other(tables.owner_of(wallet).and_then(|user| of_user(&user)))),
        };
        Ok(who.iter().map(name_of).collect())
    }

    async fn find_named(&self, beginning: &str, limit: u32) -> Result<Vec<NamedPerson>, StoreError> {
        let beginning = folded(beginning);
        let mut named = self.tables().named();
        named.retain(|person| person.name.folded().starts_with(&beginning));
        // The sort keeps the order of those with one name.
        named.sort_by_key(|person| (matches!(person.who, Subject::Wallet(_)), person.name.folded()));
        named.truncate(count(limit));
        Ok(named)
    }

    async fn find_wallets(&self, question: FindWallets) -> Result<Vec<(WalletAccount, UserId)>, StoreError> {
        let [beginning, end] = [&question.beginning, &question.end].map(|part| part.to_ascii_lowercase());
        let tables = self.tables();
        let mut found: Vec<(String, WalletAccount, UserId)> = tables
            .wallets
            .iter()
            .map(|(key, row)| (account_of(key, &row.chain), row.user))
            .map(|(account, user)| (account.address.to_ascii_lowercase(), account, user))
            .filter(|(letters, ..)| letters.starts_with(&beginning) && letters.ends_with(&end))
            .collect();
        found.sort_by(|one, other| (&one.0, &one.1.family).cmp(&(&other.0, &other.1.family)));
        found.truncate(count(question.limit));
        Ok(found.into_iter().map(|(_, account, user)| (account, user)).collect())
    }

    async fn list_named(
        &self,
        after: Option<&MemberCursor>,
        limit: u32,
    ) -> Result<Vec<NamedPerson>, StoreError> {
        let place = |who: &Subject| match who {
            Subject::User(user) => (Some(*user), None),
            Subject::Wallet(wallet) => (None, Some(key_of(wallet))),
        };
        let is_later = |who: &Subject| match after.map(place) {
            None => true,
            // Every wallet comes after every user.
            Some((Some(after), _)) => place(who).0.is_none_or(|user| user > after),
            Some((None, after)) => place(who).1.is_some_and(|wallet| Some(wallet) > after),
        };
        let mut named = self.tables().named();
        named.retain(|person| is_later(&person.who));
        named.truncate(count(limit));
        Ok(named)
    }

    async fn list_people(
        &self,
        filter: &PeopleFilter,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<PersonListed>, StoreError> {
        let tables = self.tables();
        let later = tables.users.keys().copied().filter(|user| after.is_none_or(|after| *user > after));
        let asked = later.filter(|user| tables.is_asked(filter, *user));
        Ok(asked.filter_map(|user| tables.listed(user)).take(count(limit)).collect())
    }

    async fn note_sign_ins(&self, seen: Vec<UserSeen>) -> Result<(), StoreError> {
        let mut tables = self.tables();
        for UserSeen { user, at } in seen {
            if let Some(created_at) = tables.users.get(&user).copied() {
                let known = tables.seen.entry(user).or_insert(created_at);
                *known = at.max(*known);
            }
        }
        Ok(())
    }

    async fn sort_people(&self, question: SortPeople) -> Result<SortedPeople, StoreError> {
        let tables = self.tables();
        let SortPeople { filter, order, after, limit } = question;
        let asked = tables.users.iter().filter(|(user, _)| tables.is_asked(&filter, **user));
        let place = |(user, created_at): (&UserId, &OffsetDateTime)| {
            let seen_at = tables.seen.get(user).filter(|_| order == PeopleOrder::LastSeen);
            PersonPlace { at: *seen_at.unwrap_or(created_at), user: *user }
        };
        let mut asked: Vec<PersonPlace> = asked.map(place).collect();
        let total = Total::of(asked.len());
        asked.sort_by_key(|place| Reverse(*place));
        asked.retain(|place| after.is_none_or(|after| *place < after));
        let more = asked.len() > count(limit);
        asked.truncate(count(limit));
        let people = asked.iter().filter_map(|place| tables.listed(place.user)).collect();
        Ok(SortedPeople { people, next: asked.last().filter(|_| more).copied(), total })
    }

    async fn find_person(&self, user: UserId, now: OffsetDateTime) -> Result<Option<Person>, StoreError> {
        let tables = self.tables();
        let Some(listed) = tables.listed(user) else { return Ok(None) };
        let mut sessions = tables.sessions_of(user);
        sessions.retain(|session| now < session.expires_at);
        Ok(Some(Person {
            listed,
            memberships: tables.memberships_of(user),
            blocked_wallets: tables.blocked_wallets_of(user),
            sessions,
            consents: tables.consents_of(user),
        }))
    }
}

impl Tables {
    fn is_asked(&self, filter: &PeopleFilter, user: UserId) -> bool {
        filter.group.as_ref().is_none_or(|group| self.groups_of(user).contains(group))
            && (!filter.blocked || self.blocked_users.contains_key(&user))
    }

    /// Users before wallets, each in the order of their keys.
    fn named(&self) -> Vec<NamedPerson> {
        let users = self.named_users.iter().map(|(user, name)| (Subject::User(*user), name));
        let wallets = self.named_wallets.iter().map(|(key, row)| {
            let account = account_of(key, &row.chain);
            (Subject::Wallet(account), &row.name)
        });
        users.chain(wallets).map(|(who, name)| NamedPerson { who, name: name.clone() }).collect()
    }

    fn listed(&self, user: UserId) -> Option<PersonListed> {
        let created_at = *self.users.get(&user)?;
        let consents = self.consents_of(user).into_iter().map(|consent| consent.last_used_at);
        let sessions = self.sessions_of(user).into_iter().map(|session| session.last_used_at);
        Some(PersonListed {
            id: user,
            created_at,
            last_sign_in_at: consents.chain(sessions).max(),
            wallets: self.wallets_of(user),
            block: self.blocked_users.get(&user).cloned(),
        })
    }
}
