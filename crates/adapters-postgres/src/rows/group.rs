//! Rows of `user_groups`, `group_users` and `group_wallets`.

use countersign_domain::group::{Group, GroupName, GroupTitle, Membership, Through};
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{CountedGroup, GroupMember, Member, StoreError};
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

/// A group, and how many members it has.
#[derive(Queryable)]
pub(crate) struct GroupRow {
    name: String,
    title: Option<String>,
    created_at: OffsetDateTime,
    users: i64,
    wallets: i64,
}

impl TryFrom<GroupRow> for CountedGroup {
    type Error = StoreError;

    fn try_from(row: GroupRow) -> Result<Self, StoreError> {
        let title = row.title.and_then(|title| GroupTitle::parse(&title).ok());
        Ok(Self {
            group: Group { name: group_name(&row.name)?, title, created_at: row.created_at },
            users: row.users.unsigned_abs(),
            wallets: row.wallets.unsigned_abs(),
        })
    }
}

/// A user who was put into a known group.
#[derive(Queryable)]
pub(crate) struct MemberUserRow {
    user_id: Uuid,
    added_at: OffsetDateTime,
}

impl From<MemberUserRow> for GroupMember {
    fn from(row: MemberUserRow) -> Self {
        let user = UserId::from_uuid(row.user_id);
        Self { member: Member::User(user), added_at: row.added_at, user: Some(user) }
    }
}

/// A wallet that was put into a known group, and its user.
#[derive(Queryable)]
pub(crate) struct MemberWalletRow {
    family: String,
    chain: String,
    address: String,
    added_at: OffsetDateTime,
    user_id: Option<Uuid>,
}

impl From<MemberWalletRow> for GroupMember {
    fn from(row: MemberWalletRow) -> Self {
        let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
        let user = row.user_id.map(UserId::from_uuid);
        Self { member: Member::Wallet(account), added_at: row.added_at, user }
    }
}

/// A way in which a known user is in a group. There is no wallet if it is the user's own.
#[derive(Queryable)]
pub(crate) struct MembershipRow {
    group_name: String,
    family: Option<String>,
    chain: Option<String>,
    address: Option<String>,
}

impl TryFrom<MembershipRow> for Membership {
    type Error = StoreError;

    fn try_from(row: MembershipRow) -> Result<Self, StoreError> {
        let through = match (row.family, row.address) {
            (Some(family), Some(address)) => {
                let chain = row.chain.unwrap_or_else(|| chain_of_old_wallet(&family));
                Through::Wallet(WalletAccount { family, chain, address })
            }
            (None, _) | (_, None) => Through::User,
        };
        Ok(Self { group: group_name(&row.group_name)?, through })
    }
}

/// The names of groups, in the order in which they are stored.
pub(crate) fn group_names(stored: Vec<String>) -> Result<Vec<GroupName>, StoreError> {
    stored.iter().map(|name| group_name(name)).collect()
}

fn group_name(stored: &str) -> Result<GroupName, StoreError> {
    GroupName::parse(stored).map_err(|rejected| StoreError::Corrupt {
        table: "user_groups",
        column: "name",
        row: rejected.given,
    })
}
