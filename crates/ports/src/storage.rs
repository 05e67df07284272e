//! The whole storage port.

use crate::{ClientStore, KeyStore, LoginStore, TokenStore, Upkeep};

/// Everything that a storage adapter offers. Implement the five traits; this one follows.
pub trait Storage: ClientStore + LoginStore + TokenStore + KeyStore + Upkeep {}

impl<T: ClientStore + LoginStore + TokenStore + KeyStore + Upkeep> Storage for T {}
