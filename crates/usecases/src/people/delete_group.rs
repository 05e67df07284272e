//! An operator deletes a group.

use countersign_domain::client::Client;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::group::GroupName;
use countersign_domain::scope::ScopeName;
use countersign_ports::{CountedGroup, DeleteGroup, GroupChange, IfGroupUnchanged, StoreError};

use super::clients_for;
use crate::Management;

/// What a group is good for. Who deletes it takes this away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupUse {
    /// The group, with the number of its members.
    pub counted: CountedGroup,
    /// The clients whose rules name it. They keep their rules, and nobody comes in by this group any more.
    pub clients: Vec<Client>,
    /// Does the setting `default_access` name it?
    pub is_default: bool,
    /// The scopes of resources that need it. Nobody gets them any more.
    pub scopes: Vec<ScopeName>,
}

impl GroupUse {
    /// Would deleting the group take anything away?
    pub fn is_any(&self) -> bool {
        let has_members = self.counted.users > 0 || self.counted.wallets > 0;
        has_members || !self.clients.is_empty() || self.is_default || !self.scopes.is_empty()
    }
}

/// Why the group is still there.
#[derive(Debug, thiserror::Error)]
pub enum DeleteGroupError {
    /// There is no such group, or it is no longer as it was read.
    #[error("there is no such group")]
    GroupUnknown,
    /// It has members, or a rule or a scope names it, and nobody said to delete it all the same.
    #[error("group is in use")]
    InUse(Box<GroupUse>),
    /// The group could not be deleted.
    #[error("group could not be deleted")]
    Store(#[from] StoreError),
}

/// Deletes a group with its memberships. One that is in use is only deleted by force. The answer says what
/// it was good for. With a group that was read before, it is only deleted if it is still like that.
pub async fn delete_group(
    management: Management<'_>,
    name: &GroupName,
    by_force: bool,
    read: Option<CountedGroup>,
) -> Result<GroupUse, DeleteGroupError> {
    let counted = management.storage.find_group(name).await?.ok_or(DeleteGroupError::GroupUnknown)?;
    let clients = clients_for(management, name).await?;
    let is_default = management.policy.default_access.groups().contains(name);
    let scopes = management.resources.read_fresh().await?.needing(name).cloned().collect();
    let found = GroupUse { counted, clients, is_default, scopes };
    if found.is_any() && !by_force {
        return Err(DeleteGroupError::InUse(Box::new(found)));
    }
    let event = management.event(management.clock.now(), EventKind::GroupDeleted, |event| {
        event.details = Details::default().text("group", name);
    });
    let command = DeleteGroup { name: name.clone(), event };
    let deleted = match read {
        None => management.storage.delete_group(command).await?,
        Some(read) => {
            let change = GroupChange::Delete(command);
            management.storage.if_group_unchanged(IfGroupUnchanged { read, change }).await?
        }
    };
    if !deleted {
        return Err(DeleteGroupError::GroupUnknown);
    }
    Ok(found)
}
