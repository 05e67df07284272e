//! Blocks: users and wallets that are kept out.
//!
//! Blocking is two operations. The first stores the block; then the caller waits until no replica signs
//! anybody in without looking for blocks; then the second ends the access that was given before. What a
//! sign-in stores in between is ended by the second operation, or by the sign-in itself, which looks for
//! blocks once more after its commit.

use async_trait::async_trait;
use countersign_domain::admission::Block;
use countersign_domain::event::Event;
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::UserId;
use countersign_domain::scope::Scope;
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use crate::{SessionClient, StoreError};

/// Whom a block keeps out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// A user, with every wallet of theirs.
    User(UserId),
    /// A wallet (family and address), whomever it belongs to.
    Wallet(WalletAccount),
}

/// Blocks a user or a wallet.
#[derive(Clone, Debug)]
pub struct PutBlock {
    /// Who is blocked.
    pub who: Blocked,
    /// Since when and why.
    pub block: Block,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`PutBlock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockPut {
    /// The block is stored.
    Stored,
    /// There was a block already. It keeps its time and, if it is a wallet's, its chain; its reason is replaced
    /// if the new one has any. A repeat of the same command gives this.
    AlreadyThere,
    /// There is no such user. Nothing changed.
    UserUnknown,
}

/// Lets a user or a wallet in again.
#[derive(Clone, Debug)]
pub struct RemoveBlock {
    /// Whom the block keeps out.
    pub who: Blocked,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Ends the access of a user, or what was given by one wallet of theirs.
#[derive(Clone, Debug)]
pub struct EndAccess {
    /// Whose access ends.
    pub who: Blocked,
    /// Why; stored with the grants.
    pub reason: RevocationReason,
    /// Grants with this scope are kept.
    pub keeps: Option<Scope>,
    /// The time of the end.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`EndAccess`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessEnded {
    /// The clients with live grants in the sessions that ended, with the sessions' users. Sorted, without
    /// duplicates.
    pub clients: Vec<(UserId, SessionClient)>,
    /// How many sessions ended, those included that had expired and were still stored.
    pub sessions: u64,
    /// How many grants were revoked.
    pub grants: u64,
}

/// A blocked wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedWallet {
    /// The wallet. Its chain is that of the command that blocked it.
    pub account: WalletAccount,
    /// Since when and why.
    pub block: Block,
    /// The user whom it belongs to now.
    pub user: Option<UserId>,
}

/// Blocks. Every write is durable before the answer, and from then on every replica finds it.
#[async_trait]
pub trait BlockStore: Send + Sync {
    /// Stores a block. Guard: a user exists. A user who is deleted at the same time either is unknown already,
    /// or is not blocked afterwards but their wallets are
    /// ([`delete_account`](crate::AccountStore::delete_account)). A wallet's block stays whatever becomes of
    /// its user. Linking and unlinking by the user, or signed with the wallet, happen entirely before the block
    /// or are refused.
    async fn put_block(&self, command: PutBlock) -> Result<BlockPut, StoreError>;

    /// Removes a block. The answer says whether there was one.
    async fn remove_block(&self, command: RemoveBlock) -> Result<bool, StoreError>;

    /// Revokes the live grants, except those that are kept, and deletes the sessions: all of a user's, or all
    /// that were made with the wallet (family and address), atomically. A sign-in or a continuation of a known
    /// user at the same time happens entirely before, and ends too, or entirely after. Consents stay. A command
    /// about nobody, and a repeated one, find nothing to end.
    async fn end_access(&self, command: EndAccess) -> Result<AccessEnded, StoreError>;

    /// Is any user or wallet blocked?
    async fn anything_blocked(&self) -> Result<bool, StoreError>;

    /// Reads the block of a user; a block of one of their wallets is none.
    async fn block_of_user(&self, user: UserId) -> Result<Option<Block>, StoreError>;

    /// Reads up to `limit` blocked wallets after `after`, by family and address in byte order. The wallet
    /// `after` need not be blocked.
    async fn blocked_wallets(
        &self,
        after: Option<&WalletAccount>,
        limit: u32,
    ) -> Result<Vec<BlockedWallet>, StoreError>;
}
