//! An operator takes users and wallets out of a group.

use countersign_domain::event::EventKind;
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_ports::{ChangeMembers, MembersChanged, MembersGo};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

use super::members::{changes_of, events_of, share_text, user_of};
use super::ways_into;

/// The outcome for one member to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The user or the wallet.
    pub who: Subject,
    /// The user a wallet belongs to now, or the user's own id.
    pub user: Option<UserId>,
    /// Was it a member?
    pub was_member: bool,
    /// How this user is still in the group: by other wallets, or as a user.
    pub still: Vec<Subject>,
}

/// Removes members in one commit. Who is none stays as they are.
pub async fn remove_members(
    management: Management<'_>,
    group: &GroupName,
    members: Vec<Subject>,
) -> Result<Vec<Removed>, ActRefused> {
    if management.storage.find_group(group).await?.is_none() {
        return Err(ActRefused::GroupUnknown(group.clone()));
    }
    let now = management.clock.now();
    let mut changes = changes_of(management, now, EventKind::GroupMemberRemoved, group, &members);
    let event = share_text(management, now, group, events_of(&mut changes));
    let command = ChangeMembers { way: MembersGo::Out, changes, event };
    let MembersChanged::Changed(changed) = management.storage.change_members(command).await? else {
        return Err(ActRefused::GroupUnknown(group.clone()));
    };
    let mut done = Vec::with_capacity(members.len());
    for (who, was_member) in members.into_iter().zip(changed) {
        let user = user_of(management, &who).await?;
        let still = match user {
            Some(user) => ways_into(management, group, user).await?,
            None => Vec::new(),
        };
        done.push(Removed { who, user, was_member, still });
    }
    Ok(done)
}
