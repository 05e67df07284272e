//! An operator lists users.

use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_ports::{PeopleFilter, PersonListed, SortPeople, SortedPeople, StoreError};

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
    expect_group(management, &filter).await?;
    // One more than is shown, to know whether there are more.
    let mut people = management.storage.list_people(&filter, after, limit.saturating_add(1)).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = people.len() > most;
    people.truncate(most);
    Ok(PeoplePage { people, more })
}

/// Lists users in an order that an operator chose.
pub async fn sort_people(
    management: Management<'_>,
    question: SortPeople,
) -> Result<SortedPeople, ListPeopleError> {
    expect_group(management, &question.filter).await?;
    Ok(management.storage.sort_people(question).await?)
}

async fn expect_group(management: Management<'_>, filter: &PeopleFilter) -> Result<(), ListPeopleError> {
    match &filter.group {
        Some(group) if management.storage.find_group(group).await?.is_none() => {
            Err(ListPeopleError::GroupUnknown(group.clone()))
        }
        Some(_) | None => Ok(()),
    }
}
