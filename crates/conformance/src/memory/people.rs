//! What an operator sees of people.

use async_trait::async_trait;
use countersign_domain::id::UserId;
use countersign_ports::{PeopleFilter, PeopleStore, Person, PersonListed, StoreError};
use time::OffsetDateTime;

use super::{MemoryStorage, Tables, count};

#[async_trait]
impl PeopleStore for MemoryStorage {
    async fn list_people(
        &self,
        filter: &PeopleFilter,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<PersonListed>, StoreError> {
        let tables = self.tables();
        let is_asked = |user: UserId| {
            after.is_none_or(|after| user > after)
                && filter.group.as_ref().is_none_or(|group| tables.groups_of(user).contains(group))
                && (!filter.blocked || tables.blocked_users.contains_key(&user))
        };
        let asked = tables.users.keys().copied().filter(|user| is_asked(*user));
        Ok(asked.filter_map(|user| tables.listed(user)).take(count(limit)).collect())
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
