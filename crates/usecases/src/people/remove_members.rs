//! An operator takes users and wallets out of a group.

use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_ports::{ChangeMember, StoreError};

use super::{Who, ways_into};
use crate::Management;

/// What became of somebody who was to leave a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The user or the wallet.
    pub who: Who,
    /// Whom a wallet belongs to now; a user's own id.
    pub user: Option<UserId>,
    /// Was it a member?
    pub was_member: bool,
    /// How this user is still in the group: by other wallets, or as a user.
    pub still: Vec<Who>,
}

/// Why nobody was removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveMembersError {
    /// There is no such group.
    #[error("there is no such group")]
    GroupUnknown,
    /// A member could not be removed.
    #[error("members could not be removed")]
    Store(#[from] StoreError),
}

/// Removes members. Who is none stays as they are.
pub async fn remove_members(
    management: Management<'_>,
    group: &GroupName,
    members: Vec<Who>,
) -> Result<Vec<Removed>, RemoveMembersError> {
    if management.storage.find_group(group).await?.is_none() {
        return Err(RemoveMembersError::GroupUnknown);
    }
    let now = management.clock.now();
    let mut done = Vec::with_capacity(members.len());
    for who in members {
        let command = ChangeMember { group: group.clone(), member: who.clone().into(), now, event: None };
        let was_member = management.storage.remove_member(command).await?;
        let user = match &who {
            Who::User(user) => Some(*user),
            Who::Wallet(account) => management.storage.find_owner(account.clone()).await?,
        };
        let still = match user {
            Some(user) => ways_into(management, group, user).await?,
            None => Vec::new(),
        };
        done.push(Removed { who, user, was_member, still });
    }
    Ok(done)
}
