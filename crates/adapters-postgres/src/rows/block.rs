//! Rows of `blocked_users` and `blocked_wallets`, and what they mean for a wallet that signs in.

use countersign_domain::admission::{Block, Standing};
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{BlockedWallet, StoreError};
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use super::group::group_names;

/// A blocked wallet, and its user.
#[derive(Queryable)]
pub(crate) struct BlockedWalletRow {
    family: String,
    chain: String,
    address: String,
    blocked_at: OffsetDateTime,
    reason: Option<String>,
    user_id: Option<Uuid>,
}

impl From<BlockedWalletRow> for BlockedWallet {
    fn from(row: BlockedWalletRow) -> Self {
        Self {
            account: WalletAccount { family: row.family, chain: row.chain, address: row.address },
            block: Block { at: row.blocked_at, reason: row.reason },
            user: row.user_id.map(UserId::from_uuid),
        }
    }
}

/// What is known about a wallet and its user.
#[derive(Queryable)]
pub(crate) struct StandingRow {
    user_id: Option<Uuid>,
    blocked_at: Option<OffsetDateTime>,
    reason: Option<String>,
    groups: Vec<String>,
}

impl TryFrom<StandingRow> for Standing {
    type Error = StoreError;

    fn try_from(row: StandingRow) -> Result<Self, StoreError> {
        Ok(Self {
            user: row.user_id.map(UserId::from_uuid),
            block: block(row.blocked_at, row.reason),
            groups: group_names(row.groups)?,
        })
    }
}

/// A block has a time.
pub(super) fn block(at: Option<OffsetDateTime>, reason: Option<String>) -> Option<Block> {
    at.map(|at| Block { at, reason })
}
