//! Rows of `user_groups`, `group_users` and `group_wallets`.

use countersign_domain::group::{Group, GroupName, GroupTitle, Membership, Through};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{CountedGroup, GroupMember, Member};
use diesel::prelude::*;

use super::field::Row;
use crate::error::SqliteError;

/// A group, and how many members it has.
#[derive(Queryable)]
pub(crate) struct GroupRow {
    name: String,
    title: Option<String>,
    created_at: i64,
    users: i64,
    wallets: i64,
}

impl TryFrom<GroupRow> for CountedGroup {
    type Error = SqliteError;

    fn try_from(row: GroupRow) -> Result<Self, SqliteError> {
        let at = Row { table: "user_groups", key: row.name.as_bytes() };
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
#[derive(Queryable)]
pub(crate) struct MemberUserRow {
    user_id: Vec<u8>,
    added_at: i64,
}

impl TryFrom<MemberUserRow> for GroupMember {
    type Error = SqliteError;

    fn try_from(row: MemberUserRow) -> Result<Self, SqliteError> {
        let at = Row { table: "group_users", key: &row.user_id };
        let user = at.id("user_id", &row.user_id)?;
        Ok(Self {
            member: Member::User(user),
            added_at: at.time("added_at", row.added_at)?,
            user: Some(user),
        })
    }
}

/// A wallet that was put into a known group, and its user.
#[derive(Queryable)]
pub(crate) struct MemberWalletRow {
    family: String,
    chain: String,
    address: String,
    added_at: i64,
    user_id: Option<Vec<u8>>,
}

impl TryFrom<MemberWalletRow> for GroupMember {
    type Error = SqliteError;

    fn try_from(row: MemberWalletRow) -> Result<Self, SqliteError> {
        let at = Row { table: "group_wallets", key: row.address.as_bytes() };
        let added_at = at.time("added_at", row.added_at)?;
        let user = at.optional_id("user_id", row.user_id.as_deref())?;
        let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
        Ok(Self { member: Member::Wallet(account), added_at, user })
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
    type Error = SqliteError;

    fn try_from(row: MembershipRow) -> Result<Self, SqliteError> {
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

/// The names of groups, which a statement joined by commas in any order, sorted.
pub(crate) fn group_names(stored: Option<&str>) -> Result<Vec<GroupName>, SqliteError> {
    let names = stored.into_iter().flat_map(|names| names.split(','));
    let mut names = names.map(group_name).collect::<Result<Vec<_>, _>>()?;
    names.sort_unstable();
    Ok(names)
}

fn group_name(stored: &str) -> Result<GroupName, SqliteError> {
    let at = Row { table: "user_groups", key: stored.as_bytes() };
    GroupName::parse(stored).map_err(|_| at.impossible("name"))
}
