//! An operator looks at one group.

use countersign_domain::client::Client;
use countersign_domain::group::GroupName;
use countersign_domain::subject::Subject;
use countersign_ports::{CountedGroup, GroupMember, StoreError};
use countersign_usecases::Management;

use super::clients_for;

/// A group, some of its members, and what it is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRead {
    /// The group, with the number of its members.
    pub counted: CountedGroup,
    /// Some members: users before wallets.
    pub members: Vec<GroupMember>,
    /// Do more members follow the last one?
    pub more: bool,
    /// The clients that let its members in.
    pub clients: Vec<Client>,
    /// Does the setting `default_access` name it?
    pub is_default: bool,
}

/// Reads a group and up to `limit` of its members after `after`; `None` if there is no such group.
pub async fn read_group(
    management: Management<'_>,
    name: &GroupName,
    after: Option<Subject>,
    limit: u32,
) -> Result<Option<GroupRead>, StoreError> {
    let Some(counted) = management.storage.find_group(name).await? else { return Ok(None) };
    let wanted = limit.saturating_add(1);
    let mut members = management.storage.list_members(name, after.as_ref(), wanted).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = members.len() > most;
    members.truncate(most);
    let clients = clients_for(management, name).await?;
    let is_default = management.policy.default_access.groups().contains(name);
    Ok(Some(GroupRead { counted, members, more, clients, is_default }))
}
