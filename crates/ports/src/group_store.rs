//! Groups, and who is in them.

use async_trait::async_trait;
use countersign_domain::admission::Standing;
use countersign_domain::event::Event;
use countersign_domain::group::{Group, GroupName, GroupTitle, Membership};
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use crate::StoreError;

/// Stores a group.
#[derive(Clone, Debug)]
pub struct CreateGroup {
    /// The group.
    pub group: Group,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`CreateGroup`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupCreated {
    /// The group is stored. A repeat of the same command (same name, same `created_at`) gives this too.
    Stored,
    /// Another group has this name. Nothing changed.
    NameTaken,
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
    /// That of [`GroupStore::retitle_group`].
    Retitle(RetitleGroup),
    /// That of [`GroupStore::delete_group`].
    Delete(DeleteGroup),
}

/// Puts a member into a group, or takes it out.
#[derive(Clone, Debug)]
pub struct ChangeMember {
    /// The group.
    pub group: GroupName,
    /// The member.
    pub member: Member,
    /// The time of the change.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// A member of a group, as the operator put it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// A user.
    User(UserId),
    /// A wallet (family and address), whether anybody signed in with it or not. The chain is kept for the
    /// wallet's name only; it is that of the command that put the wallet into the group.
    Wallet(WalletAccount),
}

/// The outcome of putting a member into a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberAdded {
    /// It is a member now.
    Added,
    /// It was one already. Nothing changed. A repeat of the same command gives this.
    AlreadyThere,
    /// There is no such group. Nothing changed.
    GroupUnknown,
    /// There is no such user, but the group exists. Nothing changed.
    UserUnknown,
}

/// A member of a group, with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The member.
    pub member: Member,
    /// Since when it is one.
    pub added_at: OffsetDateTime,
    /// The user whom a wallet belongs to now; a user's own id.
    pub user: Option<UserId>,
}

/// Members are counted up to this number. One more stands for all that are more, so that a list of large groups
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
pub type MemberCursor = Member;

/// Groups, and who is in them. Every write is durable before the answer, and from then on every replica finds
/// the new values.
#[async_trait]
pub trait GroupStore: Send + Sync {
    /// Stores a new group. Guard: its name is free.
    async fn create_group(&self, command: CreateGroup) -> Result<GroupCreated, StoreError>;

    /// Changes the title of a group. The answer says whether the group exists.
    async fn retitle_group(&self, command: RetitleGroup) -> Result<bool, StoreError>;

    /// Deletes a group with its memberships, atomically. A member who is added at the same time is deleted
    /// too, or is refused. Clients whose rules name the group keep them. The answer says whether the group
    /// existed.
    async fn delete_group(&self, command: DeleteGroup) -> Result<bool, StoreError>;

    /// Carries out a change by its own rules, if the group is as it was read: of two callers who read the same,
    /// one changes something. The answer says whether it was so and the change was made. A repeated command
    /// finds another group.
    async fn if_group_unchanged(&self, command: IfGroupUnchanged) -> Result<bool, StoreError>;

    /// Reads one group, and counts its members up to [`MOST_COUNTED`] and one.
    async fn find_group(&self, name: &GroupName) -> Result<Option<CountedGroup>, StoreError>;

    /// Reads up to `limit` groups with names after `after`, in the order of their names in bytes, and counts
    /// their members up to [`MOST_COUNTED`] and one each. It takes no longer if they have many.
    async fn list_groups(
        &self,
        after: Option<&GroupName>,
        limit: u32,
    ) -> Result<Vec<CountedGroup>, StoreError>;

    /// Puts a member into a group. Guards: the group exists, and so does the user if the member is one. A
    /// user who is deleted at the same time is no member afterwards. A wallet stays a member whatever becomes
    /// of its user: the membership goes to whomever the wallet belongs to.
    async fn add_member(&self, command: ChangeMember) -> Result<MemberAdded, StoreError>;

    /// Takes a member out of a group. The answer says whether it was one. A user who is in the group through a
    /// wallet stays in it by that way.
    async fn remove_member(&self, command: ChangeMember) -> Result<bool, StoreError>;

    /// Reads up to `limit` members of a group after `after`. A group that does not exist has none.
    async fn list_members(
        &self,
        group: &GroupName,
        after: Option<&MemberCursor>,
        limit: u32,
    ) -> Result<Vec<GroupMember>, StoreError>;

    /// Reads the ways in which a user is in groups, by group name in byte order, then the user's own before
    /// those through wallets, then by family and address in byte order. A wallet has the chain that it has in
    /// [`WalletStore::wallets_of`](crate::WalletStore::wallets_of).
    async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError>;

    /// Reads what is known about a wallet (family and address) and the user whom it belongs to, from one
    /// snapshot: the user, the block of the user or else of this wallet, and the groups of the user by all
    /// ways or, if the wallet belongs to no one, those of the wallet. Blocks of the user's other wallets do not
    /// count, and their groups do. The work is the same whether the wallet
    /// is known, blocked, in a group or none of it. Once a change has been answered, every later read sees
    /// it, on every replica.
    async fn standing_of(&self, wallet: &WalletAccount) -> Result<Standing, StoreError>;

    /// Reads the names of a user's groups by all ways, sorted and without duplicates. A user who does not
    /// exist is in none.
    async fn groups_of(&self, user: UserId) -> Result<Vec<GroupName>, StoreError>;
}
