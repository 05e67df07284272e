//! An operator takes users and wallets out of a group.

use countersign_domain::event::{Details, EventKind};
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_ports::ChangeMember;
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;

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

/// Removes members. Who is none stays as they are.
pub async fn remove_members(
    management: Management<'_>,
    group: &GroupName,
    members: Vec<Subject>,
) -> Result<Vec<Removed>, ActRefused> {
    if management.storage.find_group(group).await?.is_none() {
        return Err(ActRefused::GroupUnknown(group.clone()));
    }
    let now = management.clock.now();
    let mut done = Vec::with_capacity(members.len());
    for who in members {
        let event = management.event(now, EventKind::GroupMemberRemoved, |event| {
            who.tell(event);
            event.details = Details::default().text("group", group);
        });
        let command = ChangeMember { group: group.clone(), member: who.clone(), now, event };
        let was_member = management.storage.remove_member(command).await?;
        let user = match &who {
            Subject::User(user) => Some(*user),
            Subject::Wallet(account) => management.storage.find_owner(account.clone()).await?,
        };
        let still = match user {
            Some(user) => ways_into(management, group, user).await?,
            None => Vec::new(),
        };
        done.push(Removed { who, user, was_member, still });
    }
    Ok(done)
}
