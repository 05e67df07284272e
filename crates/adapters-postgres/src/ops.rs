//! The operations: each takes a connection and a command, and gives an outcome.

pub(crate) mod complete_login;
pub(crate) mod keys;
pub(crate) mod link_wallet;
pub(crate) mod read;
pub(crate) mod redeem_code;
pub(crate) mod register_client;
pub(crate) mod revoke;
pub(crate) mod rotate_refresh;
pub(crate) mod unlink_wallet;
pub(crate) mod upkeep;
pub(crate) mod wallets;
