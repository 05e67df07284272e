//! The traits that adapters implement. This documentation is the contract, and `countersign-conformance`
//! tests it.
//!
//! # The seven rules of storage
//!
//! 1. An operation is atomic, and it **answers only after it is durable**.
//! 2. A refusal is an outcome, never an error: a batch of commands is never rolled back for a business
//!    reason.
//! 3. Commands own their data. They carry every id and hash that they create, and the caller's `now`. A
//!    command that is repeated after a lost answer is recognized by those ids and gives the same outcome. The
//!    exceptions are [`WalletStore`], [`RequestStore::take_pushed_request`], and members and blocks, which have
//!    no ids: repeated, they are already there.
//! 4. Dropping the future of a submitted operation does not cancel it.
//! 5. A full queue is [`StoreError::Overloaded`], never an unbounded wait.
//! 6. Secrets arrive hashed.
//! 7. An adapter has no clock, no randomness and no policy.
//!
//! Everything about a record that can never change is checked in `countersign-domain` on a snapshot. An
//! operation re-checks only what can change in between. An adapter needs no knowledge of OAuth.

mod clients;
pub mod error;
mod keeping;
mod lists;
pub mod operations;
mod operators;
mod people;
mod services;
mod sign_in;
mod storage;

pub use clients::client_store::*;
pub use clients::resource_store::*;
pub use error::{SignerError, StoreError, VerifierError};
pub use keeping::archive;
pub use keeping::archive::*;
pub use keeping::epoch_store::*;
pub use keeping::key_store::*;
pub use keeping::upkeep::*;
pub use lists::*;
pub use operations::{
    AccountStore, AdminKeyStore, BlockStore, ClientStore, DeclarationStore, DeskStore, EpochStore,
    EventPushStore, EventStore, GroupStore, InvitationStore, KeyStore, LoginStore, PeopleStore, ReplayStore,
    RequestStore, ResourceStore, SessionStore, SuspensionStore, TokenStore, Upkeep, WalletStore, signatures,
};
pub use operators::admin_key_store::*;
pub use operators::declaration_store::*;
pub use operators::desk_store::*;
pub use operators::event_push_store::*;
pub use operators::event_store::*;
pub use operators::suspension_store::*;
pub use people::account_store::*;
pub use people::block_store::*;
pub use people::group_store::*;
pub use people::invitation_store::*;
pub use people::people_store::*;
pub use people::wallet_store::*;
pub use people::{group_store, wallet_store};
pub use services::clock::*;
pub use services::entropy::*;
pub use services::fetcher::*;
pub use services::figures::*;
pub use services::jws_reader::*;
pub use services::key_ring::*;
pub use services::mailer::*;
pub use services::token_signer::*;
pub use services::wallet_verifier::*;
pub use sign_in::login_store::*;
pub use sign_in::replay_store::*;
pub use sign_in::request_store::*;
pub use sign_in::session_store::*;
pub use sign_in::token_store::*;
pub use storage::{DirectStorage, Storage};
