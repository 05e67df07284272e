//! Operators who are suspended.
//!
//! A suspension is kept for wallets, because an account can lose a wallet, get others, and be deleted. An account is
//! suspended if one of its wallets is.

use countersign_domain::desk::operators::Suspension;
use countersign_domain::event::Event;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use uuid::Uuid;

/// Suspends an operator.
#[derive(Clone, Debug)]
pub struct SuspendOperator {
    /// The operator: a user, or a wallet. If the wallet belongs to a user, its user is suspended.
    pub who: Subject,
    /// Other wallets that are known to be the same person's.
    pub others: Vec<WalletAccount>,
    /// The id of the suspension. What one suspension did, one restoring undoes.
    pub id: Uuid,
    /// Since when and why.
    pub suspension: Suspension,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`SuspendOperator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorSuspended {
    /// A wallet is suspended that was not before.
    Suspended {
        /// How many proposals of the operator ended.
        proposals: u64,
    },
    /// All of it was so already. Nothing changed. A repeat of the same command gives this.
    AlreadySo,
    /// There is no such user. Nothing changed.
    UserUnknown,
}

/// Lets a suspended operator act again.
#[derive(Clone, Debug)]
pub struct RestoreOperator {
    /// The operator: a user, or a wallet. If the wallet belongs to a user, its user is restored.
    pub who: Subject,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// A suspended wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspendedWallet {
    /// The wallet.
    pub account: WalletAccount,
    /// Since when and why.
    pub suspension: Suspension,
    /// The user it belongs to now.
    pub user: Option<UserId>,
}
