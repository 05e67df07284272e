//! Blocks: users and wallets that are kept out.
//!
//! Blocking is two operations. The first stores the block; then the caller waits until no replica signs
//! anybody in without looking for blocks; then the second ends the access that was given before. What a
//! sign-in stores in between is ended by the second operation, or by the sign-in itself, which looks for
//! blocks once more after its commit.

use countersign_domain::admission::Block;
use countersign_domain::event::Event;
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::UserId;
use countersign_domain::scope::Scope;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use crate::SessionClient;

/// Blocks a user or a wallet.
#[derive(Clone, Debug)]
pub struct PutBlock {
    /// Who is blocked.
    pub who: Subject,
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
    /// There was a block already, and its reason is replaced. It keeps its time and, if it is a wallet's, its
    /// chain. The event says that only the reason changed ([`Event::of_replaced_reason`]).
    ReasonReplaced,
    /// There was a block already, with this reason or to a command without one. Nothing changed. A repeat of the
    /// same command gives this.
    AlreadyThere,
    /// There is no such user. Nothing changed.
    UserUnknown,
}

/// Lets a user or a wallet in again.
#[derive(Clone, Debug)]
pub struct RemoveBlock {
    /// The user or wallet that is blocked.
    pub who: Subject,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Ends the access of a user, or what was given by one wallet of theirs.
#[derive(Clone, Debug)]
pub struct EndAccess {
    /// Whose access ends.
    pub who: Subject,
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
    /// The user it belongs to now.
    pub user: Option<UserId>,
}
