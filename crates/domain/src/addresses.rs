//! Addresses: our own URL, hosts, and where a request came from.

pub(crate) mod host;
pub mod own_origin;
pub mod peer_address;
pub mod public_url;
