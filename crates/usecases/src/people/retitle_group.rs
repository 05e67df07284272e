//! An operator gives a group another title.

use countersign_domain::event::{Details, EventKind};
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_ports::{CountedGroup, GroupChange, IfGroupUnchanged, RetitleGroup, StoreError};

use crate::Management;

/// Why the title stays.
#[derive(Debug, thiserror::Error)]
pub enum RetitleGroupError {
    /// There is no such group, or it is no longer as it was read.
    #[error("there is no such group")]
    GroupUnknown,
    /// The group could not be changed.
    #[error("group could not be changed")]
    Store(#[from] StoreError),
}

/// Gives a group another title, or takes its title away. With a group that was read before, only if it is still
/// like that.
pub async fn retitle_group(
    management: Management<'_>,
    name: &GroupName,
    title: Option<GroupTitle>,
    read: Option<CountedGroup>,
) -> Result<CountedGroup, RetitleGroupError> {
    let now = management.clock.now();
    let event = management.event(now, EventKind::GroupChanged, |event| {
        event.details = Details::default().text("group", name);
    });
    let command = RetitleGroup { group: name.clone(), title, event };
    let changed = match read {
        None => management.storage.retitle_group(command).await?,
        Some(read) => {
            let change = GroupChange::Retitle(command);
            management.storage.if_group_unchanged(IfGroupUnchanged { read, change }).await?
        }
    };
    if !changed {
        return Err(RetitleGroupError::GroupUnknown);
    }
    management.storage.find_group(name).await?.ok_or(RetitleGroupError::GroupUnknown)
}
