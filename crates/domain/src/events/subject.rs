//! A user or a wallet: what an operator names, keeps out, or puts into a group, and what an event is about.

use std::fmt;

use crate::event::{Event, EventPerson};
use crate::id::UserId;
use crate::wallet::WalletAccount;

/// A user or a wallet. `U` and `W` are what is known of them: here the id and the account alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject<U = UserId, W = WalletAccount> {
    /// A user, with all wallets of that user.
    User(U),
    /// A wallet (family and address), whether it belongs to a user or not. Its chain is kept for its name only.
    Wallet(W),
}

impl Subject {
    /// Says in an event that it is about this user or wallet.
    pub fn tell(&self, event: &mut Event) {
        match self {
            Self::User(user) => event.person = Some(EventPerson::User(*user)),
            Self::Wallet(account) => event.wallet = Some(account.clone()),
        }
    }

    /// Is it the same user or the same wallet? The chain of a wallet does not count.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::User(one), Self::User(other)) => one == other,
            (Self::Wallet(one), Self::Wallet(other)) => one.is_same(other),
            (Self::User(_), Self::Wallet(_)) | (Self::Wallet(_), Self::User(_)) => false,
        }
    }
}

/// The user, or the account of the wallet by CAIP-10.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(user) => user.fmt(f),
            Self::Wallet(account) => f.write_str(&account.caip10()),
        }
    }
}
