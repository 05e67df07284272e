//! An operator creates a group, gives it another title, and deletes it.

use countersign_domain::event::{Details, EventKind};
use countersign_domain::group::{Group, GroupName, GroupTitle};
use countersign_domain::subject::Subject;
use countersign_ports::{
    CountedGroup, CreateGroup, DeleteGroup, GroupChange, GroupCreated, IfGroupUnchanged, RetitleGroup,
};
use countersign_usecases::Management;
use countersign_usecases::act_refused::{ActRefused, GroupUse};

use super::clients_for;
use super::members::{changes_of, events_of, share_text};

/// Creates a group with its members, in one commit.
pub async fn create_group(
    management: Management<'_>,
    name: GroupName,
    title: Option<GroupTitle>,
    members: &[Subject],
) -> Result<CountedGroup, ActRefused> {
    let now = management.clock.now();
    let users = members.iter().filter(|member| matches!(member, Subject::User(_))).count();
    let wallets = members.len() - users;
    let mut event = management.event(now, EventKind::GroupCreated, |event| {
        event.details = Details::default().text("group", &name);
    });
    let mut members = changes_of(management, now, EventKind::GroupMemberAdded, &name, members);
    let events = events_of(&mut members).chain(event.as_deref_mut());
    let text = share_text(management, now, &name, events);
    let group = Group { name, title, created_at: now };
    match management.create_group(CreateGroup { group: group.clone(), members, event, text }).await? {
        Some(GroupCreated::Stored) => {
            Ok(CountedGroup { group, users: number(users), wallets: number(wallets) })
        }
        Some(GroupCreated::NameTaken) => Err(ActRefused::GroupTaken(group.name)),
        Some(GroupCreated::UserUnknown(user)) => Err(ActRefused::MemberUnknown(user)),
        None => Err(ActRefused::MadeBefore),
    }
}

fn number(members: usize) -> u64 {
    u64::try_from(members).unwrap_or(u64::MAX)
}

/// Gives a group another title, or takes its title away. With a group that was read before, only if it is still
/// like that.
pub async fn retitle_group(
    management: Management<'_>,
    name: &GroupName,
    title: Option<GroupTitle>,
    read: Option<CountedGroup>,
) -> Result<CountedGroup, ActRefused> {
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
        return Err(ActRefused::GroupUnknown(name.clone()));
    }
    management.storage.find_group(name).await?.ok_or_else(|| ActRefused::GroupUnknown(name.clone()))
}

/// Deletes a group with its memberships. One that is in use is only deleted by force. The answer says what
/// it was good for. With a group that was read before, it is only deleted if it is still like that.
pub async fn delete_group(
    management: Management<'_>,
    name: &GroupName,
    by_force: bool,
    read: Option<CountedGroup>,
) -> Result<GroupUse, ActRefused> {
    let unknown = || ActRefused::GroupUnknown(name.clone());
    let counted = management.storage.find_group(name).await?.ok_or_else(unknown)?;
    let clients = clients_for(management, name).await?;
    let is_default = management.policy.default_access.groups().contains(name);
    let scopes = management.resources.read_fresh().await?.needing(name).cloned().collect();
    let found = GroupUse { counted, clients, is_default, scopes };
    if found.is_any() && !by_force {
        return Err(ActRefused::GroupInUse(Box::new(found)));
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
        return Err(unknown());
    }
    Ok(found)
}
