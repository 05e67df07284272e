//! The whole storage port.

use crate::{AccountStore, ClientStore, KeyStore, LoginStore, SessionStore, TokenStore, Upkeep, WalletStore};

/// Everything that a storage adapter offers. Implement the eight traits; this one follows.
pub trait Storage:
    ClientStore + LoginStore + WalletStore + SessionStore + AccountStore + TokenStore + KeyStore + Upkeep
{
}

impl<T> Storage for T where
    T: ClientStore + LoginStore + WalletStore + SessionStore + AccountStore + TokenStore + KeyStore + Upkeep
{
}
