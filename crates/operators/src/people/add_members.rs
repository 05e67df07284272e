//! An operator puts users and wallets into a group. A wallet can be a member before anybody signs in with it.

use countersign_domain::event::{Details, EventKind};
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_ports::{ChangeMember, MemberAdded};
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

use super::exists;

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

/// Adds members. If the group or one of the users is not there, none is added.
pub async fn add_members(
    management: Management<'_>,
    group: &GroupName,
    members: Vec<Subject>,
) -> Result<Vec<Added>, ActRefused> {
    if management.storage.find_group(group).await?.is_none() {
        return Err(ActRefused::GroupUnknown(group.clone()));
    }
    let mut named = Vec::with_capacity(members.len());
    for who in members {
        let user = match &who {
            Subject::User(user) if exists(management, *user).await? => Some(*user),
            Subject::User(user) => return Err(ActRefused::MemberUnknown(*user)),
            Subject::Wallet(account) => management.storage.find_owner(account.clone()).await?,
        };
        named.push((who, user));
    }
    let now = management.clock.now();
    let mut done = Vec::with_capacity(named.len());
    for (who, user) in named {
        let event = management.event(now, EventKind::GroupMemberAdded, |event| {
            who.tell(event);
            event.details = Details::default().text("group", group);
        });
        let command = ChangeMember { group: group.clone(), member: who.clone(), now, event };
        let already = match (management.storage.add_member(command).await?, user) {
            (MemberAdded::Added, _) => false,
            (MemberAdded::AlreadyThere, _) => true,
            (MemberAdded::UserUnknown, Some(user)) => return Err(ActRefused::MemberUnknown(user)),
            (MemberAdded::GroupUnknown | MemberAdded::UserUnknown, _) => {
                return Err(ActRefused::GroupUnknown(group.clone()));
            }
        };
        done.push(Added { who, user, already });
    }
    Ok(done)
}
