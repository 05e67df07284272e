//! One file for each thing that a client or a person can ask of the server.
//!
//! Every use-case has the same steps: read `now` once, authenticate the client, load a snapshot, let the
//! domain judge it, make the values, carry out one guarded operation, and answer. What several of them need
//! is a function.
//!
//! There is a folder for each subject, as for the errors, the tests and the endpoints. Steps that subjects
//! share are in `steps`. What operators do is in `countersign-operators`, which nothing here knows.

pub mod account;
pub mod act_refused;
pub mod clients;
pub mod context;
pub mod error;
pub mod events;
pub mod sign_in;
pub mod steps;
pub mod tokens;
pub mod upkeep;

pub use clients::authenticate_client::AuthenticateClientError;
pub use clients::client_document::{DocumentRejected, FindClientError};
pub use context::{Context, ContextKeys, Management, Notifier, Policy};
pub use error::Refuse;
pub use steps::mint_tokens::{MintError, TokenAnswer};
pub use steps::prove_key::ProveKeyError;

#[cfg(test)]
mod tests;
