//! An operator puts users and wallets into a group. A wallet can be a member before anybody signs in with it.

use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_ports::{ChangeMember, MemberAdded, StoreError};

use super::{Who, exists};
use crate::Management;

/// What became of somebody who was to be a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The member.
    pub who: Who,
    /// Whom a wallet belongs to now; a user's own id.
    pub user: Option<UserId>,
    /// Was it a member before?
    pub already: bool,
}

/// Why not everybody was added.
#[derive(Debug, thiserror::Error)]
pub enum AddMembersError {
    /// There is no such group.
    #[error("there is no such group")]
    GroupUnknown,
    /// There is no such user.
    #[error("there is no user {0}")]
    UserUnknown(UserId),
    /// A member could not be stored.
    #[error("members could not be stored")]
    Store(#[from] StoreError),
}

/// Adds members. If the group or one of the users is not there, none is added.
pub async fn add_members(
    management: Management<'_>,
    group: &GroupName,
    members: Vec<Who>,
) -> Result<Vec<Added>, AddMembersError> {
    if management.storage.find_group(group).await?.is_none() {
        return Err(AddMembersError::GroupUnknown);
    }
    let mut named = Vec::with_capacity(members.len());
    for who in members {
        let user = match &who {
            Who::User(user) if exists(management, *user).await? => Some(*user),
            Who::User(user) => return Err(AddMembersError::UserUnknown(*user)),
            Who::Wallet(account) => management.storage.find_owner(account.clone()).await?,
        };
        named.push((who, user));
    }
    let now = management.clock.now();
    let mut done = Vec::with_capacity(named.len());
    for (who, user) in named {
        let command = ChangeMember { group: group.clone(), member: who.clone().into(), now, event: None };
        let already = match (management.storage.add_member(command).await?, user) {
            (MemberAdded::Added, _) => false,
            (MemberAdded::AlreadyThere, _) => true,
            (MemberAdded::UserUnknown, Some(user)) => return Err(AddMembersError::UserUnknown(user)),
            (MemberAdded::GroupUnknown | MemberAdded::UserUnknown, _) => {
                return Err(AddMembersError::GroupUnknown);
            }
        };
        done.push(Added { who, user, already });
    }
    Ok(done)
}
