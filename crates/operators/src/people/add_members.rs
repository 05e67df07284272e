//! An operator puts users and wallets into a group. A wallet can be a member before anybody signs in with it.

use countersign_domain::event::EventKind;
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_ports::{ChangeMembers, MembersChanged, MembersGo};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

use super::members::{changes_of, events_of, share_text, user_of};

/// The outcome for one new member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The member.
    pub who: Subject,
    /// The user a wallet belongs to now, or the user's own id.
    pub user: Option<UserId>,
    /// Was it a member before?
    pub already: bool,
}

/// Adds members in one commit. If the group or one of the users is not there, none is added.
pub async fn add_members(
    management: Management<'_>,
    group: &GroupName,
    members: Vec<Subject>,
) -> Result<Vec<Added>, ActRefused> {
    let now = management.clock.now();
    let mut changes = changes_of(management, now, EventKind::GroupMemberAdded, group, &members);
    let event = share_text(management, now, group, events_of(&mut changes));
    let command = ChangeMembers { way: MembersGo::In, changes, event };
    let changed = match management.storage.change_members(command).await? {
        MembersChanged::Changed(changed) => changed,
        MembersChanged::GroupUnknown(group) => return Err(ActRefused::GroupUnknown(group)),
        MembersChanged::UserUnknown(user) => return Err(ActRefused::MemberUnknown(user)),
    };
    let mut done = Vec::with_capacity(members.len());
    for (who, is_changed) in members.into_iter().zip(changed) {
        let user = user_of(management, &who).await?;
        done.push(Added { who, user, already: !is_changed });
    }
    Ok(done)
}
