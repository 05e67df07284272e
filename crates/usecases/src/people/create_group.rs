//! An operator creates a group.

use countersign_domain::group::{Group, GroupName, GroupTitle};
use countersign_ports::{CreateGroup, GroupCreated, StoreError};

use crate::Management;

/// Why there is no new group.
#[derive(Debug, thiserror::Error)]
pub enum CreateGroupError {
    /// There is a group of this name.
    #[error("there is a group of this name")]
    NameTaken,
    /// The group could not be stored.
    #[error("group could not be stored")]
    Store(#[from] StoreError),
}

/// Creates a group without members.
pub async fn create_group(
    management: Management<'_>,
    name: GroupName,
    title: Option<GroupTitle>,
) -> Result<Group, CreateGroupError> {
    let group = Group { name, title, created_at: management.clock.now() };
    match management.storage.create_group(CreateGroup { group: group.clone(), event: None }).await? {
        GroupCreated::Stored => Ok(group),
        GroupCreated::NameTaken => Err(CreateGroupError::NameTaken),
    }
}
