//! People sign in, and the browser remembers it.

pub(crate) mod complete_login;
pub(crate) mod consents;
pub(crate) mod continue_session;
pub(crate) mod open_session;
pub(crate) mod sessions;
pub(crate) mod spend_proof;
pub(crate) mod standing;
pub(crate) mod wallets;
