//! The operations: each takes a connection and a command, and gives an outcome.
//!
//! Whoever locks rows of several tables does so in one order, so that nobody waits in a circle: a client, a spent challenge, the user,
//! their wallets, consents, sessions, and then grants. Several consents or sessions are locked in the order of their keys.
//! Several grants of one user are touched by those who hold the user, and by the removal of a client. Upkeep takes any order,
//! because it waits for nobody; so do batches (`together.rs`), which wait for no row that is there.

pub(crate) mod complete_login;
pub(crate) mod continue_session;
pub(crate) mod delete_account;
pub(crate) mod email;
pub(crate) mod end_session;
pub(crate) mod forget_documents;
pub(crate) mod forget_unused;
pub(crate) mod issue_tokens;
pub(crate) mod keys;
pub(crate) mod link_wallet;
pub(crate) mod open_session;
pub(crate) mod read;
pub(crate) mod read_account;
pub(crate) mod redeem_code;
pub(crate) mod register_client;
pub(crate) mod requests;
pub(crate) mod revoke;
pub(crate) mod revoke_consent;
pub(crate) mod rotate_refresh;
pub(crate) mod sign_out;
pub(crate) mod spend_proof;
pub(crate) mod unlink_wallet;
pub(crate) mod upkeep;
pub(crate) mod wallets;
