//! One member at a time: most tests put one into a group, or take one out.

use async_trait::async_trait;
use countersign_ports::{ChangeMember, GroupStore, MembersChanged, MembersGo, StoreError};

use crate::fixtures;

/// The outcome of putting a member into a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberAdded {
    /// It is a member now.
    Added,
    /// It was one already.
    AlreadyThere,
    /// There is no such group.
    GroupUnknown,
    /// There is no such user, but the group exists.
    UserUnknown,
}

/// [`GroupStore::change_members`] for one member.
#[async_trait]
pub trait OneMember: GroupStore {
    /// Puts a member into a group.
    async fn add_member(&self, change: ChangeMember) -> Result<MemberAdded, StoreError> {
        Ok(match self.change_members(fixtures::change_one(MembersGo::In, change)).await? {
            MembersChanged::Changed(changed) if changed == [true] => MemberAdded::Added,
            MembersChanged::Changed(_) => MemberAdded::AlreadyThere,
            MembersChanged::GroupUnknown(_) => MemberAdded::GroupUnknown,
            MembersChanged::UserUnknown(_) => MemberAdded::UserUnknown,
        })
    }

    /// Takes a member out of a group. Was it one?
    async fn remove_member(&self, change: ChangeMember) -> Result<bool, StoreError> {
        let changed = self.change_members(fixtures::change_one(MembersGo::Out, change)).await?;
        Ok(changed == MembersChanged::Changed(vec![true]))
    }
}

impl<S: GroupStore + ?Sized> OneMember for S {}
