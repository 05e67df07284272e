//! The whole storage port.

use crate::{
    AccountStore, ClientStore, KeyStore, LoginStore, ReplayStore, RequestStore, ResourceStore, SessionStore,
    TokenStore, Upkeep, WalletStore,
};

/// The whole storage port: implement its traits, and this one follows.
pub trait Storage: ClientStore + ResourceStore + DirectStorage {}

impl<T> Storage for T where T: ClientStore + ResourceStore + DirectStorage {}

/// The storage port except the clients and the resources. Use-cases may call it directly. Clients and resources
/// are remembered, so in the server one type alone may read and change each of them.
pub trait DirectStorage:
    LoginStore
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

impl<T> DirectStorage for T where
    T: LoginStore
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
