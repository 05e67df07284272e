//! What the server does regularly by itself.

pub mod forget_unused;
pub mod purge_expired;
