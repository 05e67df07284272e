//! The operations: one function each, on a connection that the caller has, inside a transaction that the caller makes.
//!
//! A refusal is an outcome and changes nothing; an error means that the whole transaction must go.

pub(crate) mod complete_login;
pub(crate) mod link_wallet;
pub(crate) mod manage_clients;
pub(crate) mod purge_expired;
pub(crate) mod read;
pub(crate) mod redeem_code;
pub(crate) mod register_client;
pub(crate) mod revoke;
pub(crate) mod rotate_refresh;
pub(crate) mod signing_keys;
pub(crate) mod statement;
pub(crate) mod tokens;
pub(crate) mod unlink_wallet;
pub(crate) mod wallets;
