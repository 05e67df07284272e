//! What several handlers need. Nothing here is an endpoint.

pub mod back_channel;
pub(crate) mod client_credentials;
pub(crate) mod done;
pub(crate) mod dpop;
pub(crate) mod farewell;
pub(crate) mod mail;
