//! Rows of `user_groups`, `group_users` and `group_wallets`.

use countersign_domain::group::{Group, GroupName, GroupTitle, Membership, Through};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{CountedGroup, GroupMember};
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{BigInt, Key, Moment, Nullable, Row, StoredId, StoredNames, StoredTime, Text};

/// The SQL types of [`GroupRow`].
pub type GroupSql = (Text, Nullable<Text>, Moment, BigInt, BigInt);

/// A group, and how many members it has.
#[derive(Debug, Queryable)]
pub struct GroupRow {
    name: String,
    title: Option<String>,
    created_at: StoredTime,
    users: i64,
    wallets: i64,
}

impl GroupRow {
    /// How many users and wallets were put into it, as far as they were counted.
    pub(crate) fn members(&self) -> i64 {
        self.users.saturating_add(self.wallets)
    }
}

impl TryFrom<GroupRow> for CountedGroup {
    type Error = SqlError;

    fn try_from(row: GroupRow) -> Result<Self, SqlError> {
        let at = Row { table: "user_groups", key: &row.name };
        let title = row.title.and_then(|title| GroupTitle::parse(&title).ok());
        let created_at = at.time("created_at", row.created_at)?;
        Ok(Self {
            group: Group { name: group_name(&row.name)?, title, created_at },
            users: row.users.unsigned_abs(),
            wallets: row.wallets.unsigned_abs(),
        })
    }
}

/// A user who was put into a known group.
#[derive(Debug, Queryable)]
pub struct MemberUserRow {
    user_id: StoredId,
    added_at: StoredTime,
}

impl TryFrom<MemberUserRow> for GroupMember {
    type Error = SqlError;

    fn try_from(row: MemberUserRow) -> Result<Self, SqlError> {
        let at = Row { table: "group_users", key: &row.user_id };
        let user = at.id("user_id", &row.user_id)?;
        Ok(Self {
            member: Subject::User(user),
            added_at: at.time("added_at", row.added_at)?,
            user: Some(user),
        })
    }
}

/// The SQL types of [`MemberWalletRow`].
pub type MemberWalletSql = (Text, Text, Text, Moment, Nullable<Key>);

/// A wallet that was put into a known group, and its user.
#[derive(Debug, Queryable)]
pub struct MemberWalletRow {
    family: String,
    chain: String,
    address: String,
    added_at: StoredTime,
    user_id: Option<StoredId>,
}

impl TryFrom<MemberWalletRow> for GroupMember {
    type Error = SqlError;

    fn try_from(row: MemberWalletRow) -> Result<Self, SqlError> {
        let at = Row { table: "group_wallets", key: &row.address };
        let added_at = at.time("added_at", row.added_at)?;
        let user = at.optional_id("user_id", row.user_id.as_ref())?;
        let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
        Ok(Self { member: Subject::Wallet(account), added_at, user })
    }
}

/// The SQL types of [`MembershipRow`].
pub type MembershipSql = (Text, Nullable<Text>, Nullable<Text>, Nullable<Text>);

/// A way in which a known user is in a group. There is no wallet if it is the user's own.
#[derive(Debug, Queryable)]
pub struct MembershipRow {
    group_name: String,
    family: Option<String>,
    chain: Option<String>,
    address: Option<String>,
}

impl TryFrom<MembershipRow> for Membership {
    type Error = SqlError;

    fn try_from(row: MembershipRow) -> Result<Self, SqlError> {
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

/// The names of groups.
pub fn group_names(stored: &StoredNames) -> Result<Vec<GroupName>, SqlError> {
    stored.0.iter().map(|name| group_name(name)).collect()
}

pub(crate) fn group_name(stored: &str) -> Result<GroupName, SqlError> {
    let at = Row { table: "user_groups", key: &stored };
    GroupName::parse(stored).map_err(|_| at.impossible("name"))
}
