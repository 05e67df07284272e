//! Wallet families: one module each, and the router that asks the right one.

mod ethereum;
mod router;

pub use ethereum::EthereumVerifier;
pub use router::WalletRouter;

pub(crate) use ethereum::{Address, personal_sign_digest};
