//! The last time that the store was asked whether it can be written to.

use std::time::Instant;

/// The last question to the store, and its outcome.
#[derive(Clone, Debug)]
pub(crate) struct LastPing {
    pub(crate) at: Instant,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// A write is durable. `clock` says what is wrong with our clock, and `events` with the record, if anything is.
    Written { clock: Option<String>, events: Option<String> },
    /// The store refused.
    Failed,
    /// The store took too long.
    Late,
}
