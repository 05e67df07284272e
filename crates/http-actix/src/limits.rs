//! Limits how much of the server one client can use: connections, requests, polls.

pub(crate) mod connection;
pub(crate) mod polls;
pub(crate) mod rate_limit;
