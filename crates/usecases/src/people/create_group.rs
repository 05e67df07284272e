//! An operator creates a group.

use countersign_domain::event::{Details, EventKind};
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
    let event = management.event(group.created_at, EventKind::GroupCreated, |event| {
        event.details = Details::default().text("group", &group.name);
    });
    match management.storage.create_group(CreateGroup { group: group.clone(), event }).await? {
        GroupCreated::Stored => Ok(group),
        GroupCreated::NameTaken => Err(CreateGroupError::NameTaken),
    }
}
