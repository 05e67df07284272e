//! Wallet families, with one module for each, and the router that asks the right one.

mod bitcoin;
mod cosmos;
mod ethereum;
mod router;
mod secp256k1;
mod solana;
#[cfg(test)]
mod testing;
mod tron;

pub use self::bitcoin::{Coin, CoinRejected, CoinVerifier};
pub use cosmos::CosmosVerifier;
pub use ethereum::{EthereumVerifier, RpcEndpoint, RpcEndpointRejected, RpcUrl, RpcUrlRejected};
pub use router::{WalletRouter, WalletSettings};
pub use solana::SolanaVerifier;
pub use tron::TronVerifier;

pub(crate) use ethereum::{Address, personal_sign_digest};
