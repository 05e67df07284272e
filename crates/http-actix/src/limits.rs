//! Limits how much of the server one client can use: connections, requests, polls.

pub mod connection;
pub(crate) mod polls;
pub mod rate_limit;
