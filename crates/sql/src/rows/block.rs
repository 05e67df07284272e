//! Rows of `blocked_users` and `blocked_wallets`, and what they mean for a wallet that signs in.

use countersign_domain::admission::{Block, Standing, UserStanding};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::BlockedWallet;
use countersign_ports::wallet_store::chain_of_old_wallet;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{Bool, Key, Moment, Names, Nullable, Row, StoredId, StoredNames, StoredTime, Text};
use crate::rows::group::group_names;

/// A blocked wallet, and its user.
#[derive(Debug, Queryable)]
pub struct BlockedWalletRow {
    family: String,
    chain: String,
    address: String,
    blocked_at: StoredTime,
    reason: Option<String>,
    user_id: Option<StoredId>,
}

impl TryFrom<BlockedWalletRow> for BlockedWallet {
    type Error = SqlError;

    fn try_from(row: BlockedWalletRow) -> Result<Self, SqlError> {
        let at = Row { table: "blocked_wallets", key: &row.address };
        let block = Block { at: at.time("blocked_at", row.blocked_at)?, reason: row.reason };
        let user = at.optional_id("user_id", row.user_id.as_ref())?;
        let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
        Ok(Self { account, block, user })
    }
}

/// The SQL types of [`StandingRow`].
pub type StandingSql = (Nullable<Key>, Nullable<Moment>, Nullable<Text>, Names);

/// What is known about a wallet and its user.
#[derive(Debug, Queryable)]
pub struct StandingRow {
    user_id: Option<StoredId>,
    blocked_at: Option<StoredTime>,
    reason: Option<String>,
    groups: StoredNames,
}

impl TryFrom<StandingRow> for Standing {
    type Error = SqlError;

    fn try_from(row: StandingRow) -> Result<Self, SqlError> {
        let key = row.user_id.clone().unwrap_or(StoredId::Bytes(Vec::new()));
        let at = Row { table: "wallets", key: &key };
        Ok(Self {
            user: at.optional_id("user_id", row.user_id.as_ref())?,
            block: block(at, row.blocked_at, row.reason)?,
            groups: group_names(&row.groups)?,
        })
    }
}

/// The SQL types of [`FreeWalletRow`].
pub type FreeWalletSql = (Text, Nullable<Text>, Text, Names, Bool);

/// A wallet that is let in, with the groups of its user, and whether the user is suspended as an operator.
#[derive(Debug, Queryable)]
pub struct FreeWalletRow {
    family: String,
    chain: Option<String>,
    address: String,
    groups: StoredNames,
    is_suspended: bool,
}

/// What is known about a user, from all wallets that are let in.
pub fn user_standing(rows: Vec<FreeWalletRow>) -> Result<UserStanding, SqlError> {
    let groups = rows.first().map(|row| group_names(&row.groups)).transpose()?.unwrap_or_default();
    let is_suspended = rows.first().is_some_and(|row| row.is_suspended);
    let wallet = |row: FreeWalletRow| {
        let chain = row.chain.unwrap_or_else(|| chain_of_old_wallet(&row.family));
        WalletAccount { family: row.family, chain, address: row.address }
    };
    Ok(UserStanding { wallets: rows.into_iter().map(wallet).collect(), groups, is_suspended })
}

/// A block has a time.
pub fn block(
    at: Row<'_>,
    blocked_at: Option<StoredTime>,
    reason: Option<String>,
) -> Result<Option<Block>, SqlError> {
    let Some(blocked_at) = blocked_at else { return Ok(None) };
    Ok(Some(Block { at: at.time("blocked_at", blocked_at)?, reason }))
}
