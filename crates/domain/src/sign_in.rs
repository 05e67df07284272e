//! Signing in: the request, the text that a wallet signs, consents, devices and remembered sign-ins.

pub mod authorization;
pub mod challenge;
pub mod consent;
pub mod device;
pub mod form_key;
pub mod login_session;
pub mod pending;
pub mod pushed_request;
pub mod wallet_change;
