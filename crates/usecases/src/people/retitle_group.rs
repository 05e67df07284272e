//! An operator gives a group another title.

use countersign_domain::event::{Details, EventKind};
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_ports::{RetitleGroup, StoreError};

use crate::Management;

/// Gives a group another title, or takes its title away. The answer says whether the group exists.
pub async fn retitle_group(
    management: Management<'_>,
    name: GroupName,
    title: Option<GroupTitle>,
) -> Result<bool, StoreError> {
    let event = management.event(management.clock.now(), EventKind::GroupChanged, |event| {
        event.details = Details::default().text("group", &name);
    });
    management.storage.retitle_group(RetitleGroup { group: name, title, event }).await
}
