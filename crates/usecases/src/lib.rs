//! One file for each thing that a client or a person can ask of the server.
//!
//! Every use-case has the same shape: `now` is read once, the client proves who it is, a snapshot is loaded, the
//! domain judges it, values are minted, one guarded operation is carried out, the answer is made. No use-case calls
//! another; what they share is a function.

pub mod begin_authorization;
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
pub mod describe_sign_in;
pub mod end_sessions;
pub mod error;
pub mod exchange_code;
pub mod file_email;
pub mod issue_challenge;
pub mod login;
pub mod purge_expired;
pub mod read_account;
pub mod read_client;
pub mod read_user_info;
pub mod recognize_account;
pub mod refresh_tokens;
pub mod register_client;
pub mod revoke_consent;
pub mod revoke_token;
pub mod rotate_client_secret;
pub mod update_client;
pub mod verify_text;

mod answer;
mod authenticate_client;
mod mint_tokens;
mod new_grant;
mod open_configuration;

pub use authenticate_client::AuthenticateClientError;
pub use context::{Context, Policy};
pub use error::Refuse;
pub use mint_tokens::{MintError, TokenAnswer};

#[cfg(test)]
mod tests;
