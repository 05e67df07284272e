//! What keeps a database in order.

pub(crate) mod forget_events;
pub(crate) mod forget_unused;
pub(crate) mod ping;
pub(crate) mod purge_expired;
pub(crate) mod time_witness;
