//! What the store said when it was asked last whether it can be written.

use std::time::Instant;

/// What the store said last.
#[derive(Clone, Debug)]
pub(crate) struct LastPing {
    pub(crate) at: Instant,
    pub(crate) outcome: Outcome,
}

/// What came of a question to the store.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// A write is durable; `clock` says what is wrong with ours, if anything is.
    Written { clock: Option<String> },
    /// The store refused.
    Failed,
    /// The store took too long.
    Late,
}
