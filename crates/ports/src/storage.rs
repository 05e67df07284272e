//! The whole storage port.

use crate::{ClientStore, KeyStore, LoginStore, TokenStore, Upkeep, WalletStore};

/// Everything that a storage adapter offers. Implement the six traits; this one follows.
pub trait Storage: ClientStore + LoginStore + WalletStore + TokenStore + KeyStore + Upkeep {}

impl<T: ClientStore + LoginStore + WalletStore + TokenStore + KeyStore + Upkeep> Storage for T {}
