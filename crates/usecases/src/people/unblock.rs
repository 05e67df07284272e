//! An operator lets a user or a wallet in again. What the block ended stays ended.

use countersign_domain::event::EventKind;
use countersign_ports::{RemoveBlock, StoreError};

use super::Who;
use crate::Management;

/// What unblocking did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unblocked {
    /// Was there a block?
    pub was_blocked: bool,
    /// What still keeps this user or this wallet out: blocks of the user's wallets, or of the wallet's user.
    pub still: Vec<Who>,
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum UnblockError {
    /// There is no such user.
    #[error("there is no such user")]
    UserUnknown,
    /// The block could not be removed.
    #[error("block could not be removed")]
    Store(#[from] StoreError),
}

/// Removes the block of a user or of a wallet.
pub async fn unblock(management: Management<'_>, who: Who) -> Result<Unblocked, UnblockError> {
    let kind = match &who {
        Who::User(_) => EventKind::UserUnblocked,
        Who::Wallet(_) => EventKind::WalletUnblocked,
    };
    let event = management.event(management.clock.now(), kind, |event| who.tell(event));
    let was_blocked = management.blocks.unblock(RemoveBlock { who: who.clone().into(), event }).await?;
    let still = match who {
        Who::User(user) => {
            let person = management.storage.find_person(user, management.clock.now()).await?;
            let blocked = person.ok_or(UnblockError::UserUnknown)?.blocked_wallets.into_iter();
            blocked.map(|blocked| Who::Wallet(blocked.account)).collect()
        }
        Who::Wallet(account) => {
            // Its own block is gone, so what is left is that of its user.
            let standing = management.storage.standing_of(&account).await?;
            standing.block.and(standing.user).map(Who::User).into_iter().collect()
        }
    };
    Ok(Unblocked { was_blocked, still })
}
