//! People sign in, and the browser remembers it.

pub(crate) mod complete_login;
pub(crate) mod continue_session;
pub(crate) mod open_session;
pub(crate) mod spend_proof;
pub(crate) mod wallets;
