//! Contract suites for the adapters of Countersign, the reference store, fixtures and fakes.
//!
//! Every implementation of a port is tested here. A suite is a list of clauses. Each clause is a plain
//! `pub async fn` whose name is its claim. A macro makes one `#[test]` of each, on a multi-threaded runtime.
//! This crate is the only dev-dependency that an adapter's crate needs.
//!
//! # A storage
//!
//! Implement `ClientStore`, `LoginStore`, `WalletStore`, `SessionStore`, `AccountStore`, `GroupStore`,
//! `BlockStore`, `PeopleStore`, `EventStore`, `EventPushStore`, `DeskStore`, `SuspensionStore`, `EpochStore`, `TokenStore`, `RequestStore`, `KeyStore`,
//! `ReplayStore` and `Upkeep` of `countersign-ports`; the contract is in their documentation. This is then the whole file
//! `tests/contract.rs`:
//!
//! ```
//! use std::sync::Arc;
//!
//! use countersign_conformance::memory::MemoryStorage; // yours
//! use countersign_ports::Storage;
//!
//! // An empty store, and what must live as long as the test: a temporary folder, a schema that drops itself.
//! async fn fresh() -> (Arc<dyn Storage>, ()) {
//!     (Arc::new(MemoryStorage::default()), ())
//! }
//!
//! countersign_conformance::storage_contract!(fresh());
//! countersign_conformance::storage_races!(fresh());
//!
//! // Something that can be opened again (a folder, a connection string), and how to open it.
//! async fn database() -> Arc<MemoryStorage> {
//!     Arc::default()
//! }
//!
//! async fn open(database: &Arc<MemoryStorage>) -> Arc<dyn Storage> {
//!     Arc::<MemoryStorage>::clone(database)
//! }
//!
//! countersign_conformance::storage_durability!(database(), open);
//! // Only for a store that several processes may use at once:
//! countersign_conformance::storage_replicas!(database(), open);
//! # fn main() {}
//! ```
//!
//! | macro | arguments |
//! |---|---|
//! | [`storage_contract!`] | an expression for a future of `(Arc<dyn Storage>, guard)`; each clause evaluates it anew |
//! | [`storage_races!`] | the same |
//! | [`storage_durability!`] | an expression for a future of a database; an async function from `&` database to `Arc<dyn Storage>` |
//! | [`storage_replicas!`] | the same |
//! | [`wallet_contract!`](crate::wallet_contract!) | an expression for a verifier; a function from `u64` to a [`wallet::SigningWallet`] |
//! | [`signer_contract!`](crate::signer_contract!) | an expression for a signer |
//! | [`jws_contract!`](crate::jws_contract!) | an expression for a JWS reader |
//!
//! The tests are generated where the macro is called. To run a suite twice, wrap each call in a module of its
//! own.
//!
//! # A wallet family
//!
//! Implement `WalletVerifier`, and [`wallet::SigningWallet`] for a wallet that can sign in tests:
//!
//! ```text
//! countersign_conformance::wallet_contract!(MyVerifier::default(), MyWallet::from_seed);
//! ```
//!
//! # A token signer
//!
//! ```
//! use countersign_conformance::fakes::FakeSigner; // yours
//!
//! countersign_conformance::signer_contract!(FakeSigner);
//! # fn main() {}
//! ```
//!
//! # Versions
//!
//! This crate is versioned with `countersign-ports`; a new clause is a minor release.
#![expect(clippy::unwrap_used, reason = "a clause fails by panicking, as tests do")]

pub mod fakes;
pub mod fixtures;
pub mod harness;
pub mod jose;
pub mod jws;
pub mod memory;
pub mod one_member;
pub mod signer;
pub mod storage;
pub mod wallet;
