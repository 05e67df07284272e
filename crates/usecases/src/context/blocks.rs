//! The blocks, and the only way to change them.
//!
//! Most servers block no one, and then a sign-in must not pay for it. So whether anything is blocked at all
//! is remembered for 200 ms, and blocking waits 220 ms between storing the block and ending the access that
//! was given before. By then every replica looks for blocks at each sign-in (ADR 0024). A sign-in that was
//! under way is ended by the one or by the other: it looks for blocks after its own commit.

use std::fmt;
use std::sync::Arc;

use countersign_domain::admission::Block;
use countersign_domain::event::Event;
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AccessEnded, BlockPut, BlockStore, BlockedWallet, Clock, EndAccess, PutBlock, RemoveBlock, StoreError,
};

use super::moment::{Moment, until_forgotten};

/// The blocks. Nothing else in the use-cases can reach [`BlockStore`].
///
/// Copies share what they remember.
#[derive(Clone)]
pub struct Blocks {
    storage: Arc<dyn BlockStore>,
    clock: Arc<dyn Clock>,
    anything: Arc<Moment<bool>>,
}

/// What blocking did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDone {
    /// Was the block stored, or was it there?
    pub put: BlockPut,
    /// The access that ended. Nothing if there is no such user.
    pub ended: AccessEnded,
}

/// What to do about a block that is there already, with nothing to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfBlocked {
    /// End the access that was given before.
    EndAccess,
    /// Nothing.
    LeaveIt,
}

impl Blocks {
    /// Owns the blocks of a storage. Uses the clock to wait and to forget.
    pub fn new(storage: Arc<dyn BlockStore>, clock: Arc<dyn Clock>) -> Self {
        Self { storage, clock, anything: Arc::default() }
    }

    /// Is anybody blocked, or was anybody a moment ago? If this says no, no block was answered yet.
    pub async fn are_there_any(&self) -> Result<bool, StoreError> {
        // Taken before reading, so that every block that was stored by then is in what we read.
        let asked_at = self.clock.elapsed();
        if let Some(anything) = self.anything.get(asked_at) {
            return Ok(anything);
        }
        let anything = self.storage.anything_blocked().await?;
        self.anything.keep(anything, asked_at);
        Ok(anything)
    }

    /// Blocks a user or a wallet, and ends the access that was given before; the event is recorded if there was
    /// any. When this answers, nothing of it works on any replica.
    pub async fn block(
        &self,
        command: PutBlock,
        if_blocked: IfBlocked,
        event: Option<Box<Event>>,
    ) -> Result<BlockDone, StoreError> {
        let (who, now) = (command.who.clone(), command.block.at);
        let put = self.storage.put_block(command).await;
        // After an error too: the block may have been stored.
        until_forgotten(&*self.clock).await;
        let put = put?;
        let ended = match put {
            BlockPut::AlreadyThere if if_blocked == IfBlocked::LeaveIt => AccessEnded::default(),
            BlockPut::Stored | BlockPut::ReasonReplaced | BlockPut::AlreadyThere => {
                let reason = RevocationReason::Blocked;
                self.storage.end_access(EndAccess { who, reason, keeps: None, now, event }).await?
            }
            BlockPut::UserUnknown => AccessEnded::default(),
        };
        Ok(BlockDone { put, ended })
    }

    /// Ends the access of a user or of a wallet without blocking it.
    pub async fn end_access(&self, command: EndAccess) -> Result<AccessEnded, StoreError> {
        self.storage.end_access(command).await
    }

    /// Lets a user or a wallet in again. The answer says whether there was a block.
    pub async fn unblock(&self, command: RemoveBlock) -> Result<bool, StoreError> {
        self.storage.remove_block(command).await
    }

    /// The block of a user; a block of one of their wallets is none.
    pub async fn of_user(&self, user: UserId) -> Result<Option<Block>, StoreError> {
        self.storage.block_of_user(user).await
    }

    /// Up to `limit` blocked wallets after `after`, by family and address.
    pub async fn wallets(
        &self,
        after: Option<&WalletAccount>,
        limit: u32,
    ) -> Result<Vec<BlockedWallet>, StoreError> {
        self.storage.blocked_wallets(after, limit).await
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").finish_non_exhaustive()
    }
}
