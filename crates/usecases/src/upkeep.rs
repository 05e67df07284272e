//! What the server does regularly by itself.

pub mod forget_left;
pub mod forget_proposals;
pub mod forget_unused;
pub mod hour_counts;
pub mod note_replica;
pub mod purge_expired;
