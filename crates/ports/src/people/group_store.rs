//! Groups, and who is in them.

use countersign_domain::event::Event;
use countersign_domain::group::{Group, GroupName, GroupTitle};
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use time::OffsetDateTime;

/// Stores a group, perhaps with members.
#[derive(Clone, Debug)]
pub struct CreateGroup {
    /// The group.
    pub group: Group,
    /// Its members.
    pub members: Vec<ChangeMember>,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
    /// The text that an operator signed for several people, which is recorded too.
    pub text: Option<Box<Event>>,
}

/// The outcome of [`CreateGroup`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupCreated {
    /// The group is stored. A repeat of the same command gives this too. It is recognized by its event or, without
    /// one, by the group's `created_at`.
    Stored,
    /// Another group has this name. Nothing changed.
    NameTaken,
    /// There is no such user. Nothing changed.
    UserUnknown(UserId),
}

/// Gives a group another title, or takes its title away.
#[derive(Clone, Debug)]
pub struct RetitleGroup {
    /// The group.
    pub group: GroupName,
    /// The new title.
    pub title: Option<GroupTitle>,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Deletes a group.
#[derive(Clone, Debug)]
pub struct DeleteGroup {
    /// Its name.
    pub name: GroupName,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Changes a group only if it is still as the caller read it.
#[derive(Clone, Debug)]
pub struct IfGroupUnchanged {
    /// The group as it was read, with the number of its members.
    pub read: CountedGroup,
    /// What changes. It is about that group.
    pub change: GroupChange,
}

/// A change of a group.
#[derive(Clone, Debug)]
pub enum GroupChange {
    /// That of [`GroupStore::retitle_group`](crate::GroupStore::retitle_group).
    Retitle(RetitleGroup),
    /// That of [`GroupStore::delete_group`](crate::GroupStore::delete_group).
    Delete(DeleteGroup),
}

/// Puts members into groups, or takes them out, all in one commit.
#[derive(Clone, Debug)]
pub struct ChangeMembers {
    /// Where they go.
    pub way: MembersGo,
    /// The members. None is in the list twice for one group.
    pub changes: Vec<ChangeMember>,
    /// What to record if something changes, besides what each member says: the text that an operator signed for them.
    pub event: Option<Box<Event>>,
}

/// Where members go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MembersGo {
    /// Into the group. Who is in it already stays as they are.
    In,
    /// Out of the group. Who is not in it stays as they are.
    Out,
}

/// A member that is put into a group, or taken out.
#[derive(Clone, Debug)]
pub struct ChangeMember {
    /// The group.
    pub group: GroupName,
    /// The member.
    pub member: Subject,
    /// The time of the change.
    pub now: OffsetDateTime,
    /// What to record if this member changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`ChangeMembers`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembersChanged {
    /// All members are where they should be. For each of them: was it elsewhere before? In a repeat of the same command
    /// none was.
    Changed(Vec<bool>),
    /// There is no such group. Nothing changed.
    GroupUnknown(GroupName),
    /// There is no such user, but the group exists. Nothing changed.
    UserUnknown(UserId),
}

/// A member of a group, with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The member.
    pub member: Subject,
    /// Since when it is one.
    pub added_at: OffsetDateTime,
    /// The user a wallet belongs to now, or the user's own id.
    pub user: Option<UserId>,
}

/// Members are counted up to this number. One more means that there are more, so that a list of large groups
/// takes no longer than one of small ones.
pub const MOST_COUNTED: u64 = 1_000;

/// A group, with the number of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedGroup {
    /// The group.
    pub group: Group,
    /// How many users were put into it, up to [`MOST_COUNTED`] and one.
    pub users: u64,
    /// How many wallets were put into it, up to [`MOST_COUNTED`] and one.
    pub wallets: u64,
}

/// A number of members as people read it: `1000+` if they were not all counted.
pub fn counted(members: u64) -> String {
    if members > MOST_COUNTED { format!("{MOST_COUNTED}+") } else { members.to_string() }
}

/// Where a page of members begins: after this member, who need not be one. Users come before wallets, users in
/// the order of their ids, wallets by family and address in byte order.
pub type MemberCursor = Subject;
