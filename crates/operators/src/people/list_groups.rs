//! An operator lists groups.

use countersign_domain::group::GroupName;
use countersign_ports::{CountedGroup, StoreError};
use countersign_usecases::Management;

use super::PAGE;

/// Lists all groups, by name.
pub async fn list_groups(management: Management<'_>) -> Result<Vec<CountedGroup>, StoreError> {
    let mut listed: Vec<CountedGroup> = Vec::new();
    loop {
        let after = listed.last().map(|counted| &counted.group.name);
        let page = management.storage.list_groups(after, PAGE).await?;
        if page.is_empty() {
            return Ok(listed);
        }
        listed.extend(page);
    }
}

/// Some groups, and whether there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPage {
    /// The groups, by name.
    pub groups: Vec<CountedGroup>,
    /// Do more groups follow the last one?
    pub more: bool,
}

/// Lists up to `limit` groups after `after`, by name.
pub async fn list_groups_after(
    management: Management<'_>,
    after: Option<&GroupName>,
    limit: u32,
) -> Result<GroupPage, StoreError> {
    let mut groups = management.storage.list_groups(after, limit.saturating_add(1)).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = groups.len() > most;
    groups.truncate(most);
    Ok(GroupPage { groups, more })
}
