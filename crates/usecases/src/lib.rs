//! One file for each thing that a client or a person can ask of the server.
//!
//! Every use-case has the same shape: `now` is read once, the client proves who it is, a snapshot is loaded, the
//! domain judges it, values are minted, one guarded operation is carried out, the answer is made. No use-case calls
//! another; what they share is a function.

pub mod answer;
pub mod begin_authorization;
pub mod begin_device;
pub mod begin_wallet_change;
pub mod change_email;
pub mod change_wallets;
pub mod complete_login;
pub mod confirm_email;
pub mod context;
pub mod continue_session;
pub mod delete_account;
pub mod delete_client;
pub mod deny_authorization;
pub mod deny_device;
pub mod describe_sign_in;
pub mod end_sessions;
pub mod error;
pub mod exchange_code;
pub mod exchange_device_code;
pub mod file_email;
pub mod find_device;
pub mod forget_unused;
pub mod introspect_token;
pub mod issue_challenge;
pub mod issue_client_tokens;
pub mod login;
pub mod notify_logout;
pub mod open_resource;
pub mod purge_expired;
pub mod push_authorization;
pub mod read_account;
pub mod read_client;
pub mod read_user_info;
pub mod recognize_account;
pub mod refresh_tokens;
pub mod register_client;
pub mod remembered_access;
pub mod remembered_clients;
pub mod revoke_consent;
pub mod revoke_token;
pub mod rotate_client_secret;
pub mod sign_in_program;
pub mod sign_out;
pub mod update_client;
pub mod verify_text;

mod authenticate_client;
mod choose_resources;
mod client_document;
mod hints;
mod mint_tokens;
mod new_grant;
mod open_configuration;
mod prove_key;
mod released_claims;
mod verify_assertion;

pub use authenticate_client::AuthenticateClientError;
pub use client_document::{DocumentRejected, FindClientError};
pub use context::{Context, Policy};
pub use error::Refuse;
pub use mint_tokens::{MintError, TokenAnswer};
pub use prove_key::ProveKeyError;

#[cfg(test)]
mod tests;
