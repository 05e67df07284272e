//! What handlers lend each other. None of this is an endpoint by itself.

pub(crate) mod back_channel;
pub(crate) mod client_credentials;
pub(crate) mod done;
pub(crate) mod dpop;
pub(crate) mod farewell;
pub(crate) mod mail;
