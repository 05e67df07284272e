//! One file for each thing that a client or a person can ask of the server.
//!
//! Every use-case has the same shape: `now` is read once, the client proves who it is, a snapshot is loaded, the
//! domain judges it, values are minted, one guarded operation is carried out, the answer is made. No use-case calls
//! another; what they share is a function.
//!
//! They stand in rooms by subject, which the errors, the tests and the endpoints go by too. What they lend each other is in `steps`.

pub mod account;
pub mod clients;
pub mod context;
pub mod error;
pub mod sign_in;
pub mod steps;
pub mod tokens;
pub mod upkeep;

pub use clients::authenticate_client::AuthenticateClientError;
pub use clients::client_document::{DocumentRejected, FindClientError};
pub use context::{Context, ContextKeys, Management, Policy};
pub use error::Refuse;
pub use steps::mint_tokens::{MintError, TokenAnswer};
pub use steps::prove_key::ProveKeyError;

#[cfg(test)]
mod tests;
