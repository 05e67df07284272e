//! Rows of `blocked_users` and `blocked_wallets`, and what they mean for a wallet that signs in.

use countersign_domain::admission::{Block, Standing};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::BlockedWallet;
use diesel::prelude::*;

use super::field::Row;
use super::group::group_names;
use crate::error::SqliteError;

/// A blocked wallet, and its user.
#[derive(Queryable)]
pub(crate) struct BlockedWalletRow {
    family: String,
    chain: String,
    address: String,
    blocked_at: i64,
    reason: Option<String>,
    user_id: Option<Vec<u8>>,
}

impl TryFrom<BlockedWalletRow> for BlockedWallet {
    type Error = SqliteError;

    fn try_from(row: BlockedWalletRow) -> Result<Self, SqliteError> {
        let at = Row { table: "blocked_wallets", key: row.address.as_bytes() };
        let block = Block { at: at.time("blocked_at", row.blocked_at)?, reason: row.reason };
        let user = at.optional_id("user_id", row.user_id.as_deref())?;
        let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
        Ok(Self { account, block, user })
    }
}

/// What is known about a wallet and its user.
#[derive(Queryable)]
pub(crate) struct StandingRow {
    user_id: Option<Vec<u8>>,
    blocked_at: Option<i64>,
    reason: Option<String>,
    groups: Option<String>,
}

impl TryFrom<StandingRow> for Standing {
    type Error = SqliteError;

    fn try_from(row: StandingRow) -> Result<Self, SqliteError> {
        let at = Row { table: "wallets", key: row.user_id.as_deref().unwrap_or_default() };
        Ok(Self {
            user: at.optional_id("user_id", row.user_id.as_deref())?,
            block: block(at, row.blocked_at, row.reason)?,
            groups: group_names(row.groups.as_deref())?,
        })
    }
}

/// A block has a time.
pub(crate) fn block(
    at: Row<'_>,
    blocked_at: Option<i64>,
    reason: Option<String>,
) -> Result<Option<Block>, SqliteError> {
    let Some(micros) = blocked_at else { return Ok(None) };
    Ok(Some(Block { at: at.time("blocked_at", micros)?, reason }))
}
