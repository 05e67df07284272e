//! The signing keys, as the operator sees them, and the events of what happens to them.

pub(crate) mod key_events;
pub(crate) mod key_ring;
