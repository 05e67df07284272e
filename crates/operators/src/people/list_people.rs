//! An operator lists users.

use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_ports::{PeopleFilter, PersonListed, StoreError};

use countersign_usecases::Management;

/// Some users, and whether there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeoplePage {
    /// The users, in the order of their ids.
    pub people: Vec<PersonListed>,
    /// Do more users follow the last one?
    pub more: bool,
}

/// Why no one is listed.
#[derive(Debug, thiserror::Error)]
pub enum ListPeopleError {
    /// There is no such group.
    #[error("there is no group {0}")]
    GroupUnknown(GroupName),
    /// The users could not be read.
    #[error("users could not be read")]
    Store(#[from] StoreError),
}

/// Lists up to `limit` users after `after`.
pub async fn list_people(
    management: Management<'_>,
    filter: PeopleFilter,
    after: Option<UserId>,
    limit: u32,
) -> Result<PeoplePage, ListPeopleError> {
    if let Some(group) = &filter.group
        && management.storage.find_group(group).await?.is_none()
    {
        return Err(ListPeopleError::GroupUnknown(group.clone()));
    }
    // One more than is shown, to know whether there are more.
    let mut people = management.storage.list_people(&filter, after, limit.saturating_add(1)).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = people.len() > most;
    people.truncate(most);
    Ok(PeoplePage { people, more })
}
