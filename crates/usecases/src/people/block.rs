//! An operator keeps a user or a wallet out. The access that was given before ends.

use countersign_domain::admission::Block;
use countersign_ports::{BlockPut, StoreError};

use super::{Ended, Who};
use crate::Management;

/// What blocking did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedNow {
    /// Was there a block already? It keeps its time.
    pub already: bool,
    /// The access that ended.
    pub ended: Ended,
}

/// Why nobody is blocked.
#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    /// There is no such user.
    #[error("there is no such user")]
    UserUnknown,
    /// The block could not be stored, or the access not ended. Blocking once more does the rest.
    #[error("block could not be stored")]
    Store(#[from] StoreError),
}

/// Blocks a user or a wallet for a reason that was judged ([`Block::judge_reason`]). From the answer on,
/// nothing that was given before works on any replica, and nobody signs in.
pub async fn block(
    management: Management<'_>,
    who: Who,
    reason: Option<String>,
) -> Result<BlockedNow, BlockError> {
    let block = Block { at: management.clock.now(), reason };
    let done = management.blocks.block(who.into(), block).await?;
    let already = match done.put {
        BlockPut::Stored => false,
        BlockPut::AlreadyThere => true,
        BlockPut::UserUnknown => return Err(BlockError::UserUnknown),
    };
    Ok(BlockedNow { already, ended: done.ended.into() })
}
