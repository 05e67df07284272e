//! Wallet signatures, token signing, sealing of keys, the clock and the entropy.
//!
//! Everything here implements a port or serves something that does. Protocol rules are in
//! `countersign-domain`. This crate knows curves, hashes and encodings, and gets the time and random bytes
//! from the machine.

pub mod clock;
pub mod demo_wallet;
pub mod entropy;
pub mod jws_reader;
pub mod secret;
pub mod signer;
pub mod wallet;

pub use clock::SystemClock;
pub use demo_wallet::DemoWallet;
pub use entropy::OsEntropy;
pub use jws_reader::JosekitReader;
pub use secret::{EpochSecret, OperatorSecret, SecretRejected};
pub use signer::{
    CheckpointReader, JosekitSigner, KeyChange, KeyError, KeyEvents, KeyTimes, SigningKey, forget_old_keys,
    load_or_create, make_due_keys, make_key,
};
pub use wallet::{
    Coin, CoinRejected, CoinVerifier, CosmosVerifier, EthereumVerifier, RpcEndpoint, RpcEndpointRejected,
    RpcUrl, RpcUrlRejected, SolanaVerifier, TronVerifier, WalletRouter, WalletSettings,
};
