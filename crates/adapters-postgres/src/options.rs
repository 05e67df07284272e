//! What an operator can set.

use std::time::Duration;

/// How a [`PgStorage`](crate::PgStorage) uses its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PgOptions {
    /// How many connections, and so how many statements at once.
    pub pool_size: u32,
    /// How many batches of writes can run at once.
    pub writers: usize,
    /// How many batches of look-ups can run at once.
    pub readers: usize,
    /// How many operations can run or wait. One more is refused as overloaded.
    pub queue: usize,
    /// How long an operation can take before its caller is told that storage is unavailable.
    pub patience: Duration,
}

impl Default for PgOptions {
    fn default() -> Self {
        Self { pool_size: 10, writers: 2, readers: 2, queue: 1024, patience: Duration::from_secs(2) }
    }
}
