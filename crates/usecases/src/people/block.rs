//! An operator keeps a user or a wallet out. The access that was given before ends.

use countersign_domain::admission::Block;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::grant::RevocationReason;
use countersign_ports::{BlockPut, PutBlock, StoreError};

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
    let now = management.clock.now();
    let kind = match &who {
        Who::User(_) => EventKind::UserBlocked,
        Who::Wallet(_) => EventKind::WalletBlocked,
    };
    let event = management.event(now, kind, |event| who.tell(event));
    // What the block ends is the server's doing, in a commit of its own.
    let by_server = management.cause.by_server();
    let ending = Management { cause: &by_server, ..management };
    let ended = ending.event(now, EventKind::GrantRevoked, |event| {
        who.tell(event);
        event.details = Details::default().text("reason", RevocationReason::Blocked.name());
    });
    let command = PutBlock { who: who.into(), block: Block { at: now, reason }, event };
    let done = management.blocks.block(command, ended).await?;
    let already = match done.put {
        BlockPut::Stored => false,
        BlockPut::AlreadyThere => true,
        BlockPut::UserUnknown => return Err(BlockError::UserUnknown),
    };
    Ok(BlockedNow { already, ended: done.ended.into() })
}
