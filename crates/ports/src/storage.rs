//! The whole storage port.

use crate::{
    AccountStore, ClientStore, KeyStore, LoginStore, ReplayStore, RequestStore, SessionStore, TokenStore,
    Upkeep, WalletStore,
};

/// Everything that a storage adapter offers. Implement those traits; this one follows.
pub trait Storage:
    ClientStore
    + LoginStore
    + WalletStore
    + SessionStore
    + AccountStore
    + TokenStore
    + RequestStore
    + KeyStore
    + ReplayStore
    + Upkeep
{
}

impl<T> Storage for T where
    T: ClientStore
        + LoginStore
        + WalletStore
        + SessionStore
        + AccountStore
        + TokenStore
        + RequestStore
        + KeyStore
        + ReplayStore
        + Upkeep
{
}
