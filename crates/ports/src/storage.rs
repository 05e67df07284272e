//! The whole storage port.

use crate::{
    AccountStore, ClientStore, KeyStore, LoginStore, ReplayStore, RequestStore, SessionStore, TokenStore,
    Upkeep, WalletStore,
};

/// The whole storage port: implement its traits, and this one follows.
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
