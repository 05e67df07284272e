//! What the server does on its own, again and again.

pub mod forget_unused;
pub mod purge_expired;
