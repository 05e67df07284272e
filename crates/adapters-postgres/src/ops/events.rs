//! What happened is recorded, sealed, read, pushed and forgotten.

pub(crate) mod day_counts;
pub(crate) mod read_events;
pub(crate) mod seal_events;
