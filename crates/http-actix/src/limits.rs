//! What one client may take of the server: connections, requests, questions.

pub(crate) mod connection;
pub(crate) mod polls;
pub(crate) mod rate_limit;
