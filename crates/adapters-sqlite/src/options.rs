//! What an operator can set.

use std::time::Duration;

/// How the database is used. The default suits one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long to wait for another process that is writing, before storage counts as unavailable.
    pub busy_timeout: Duration,
    /// How many connections read at the same time.
    pub readers: u32,
    /// How many reads can wait for a connection. One more is refused.
    pub waiting_reads: u32,
    /// How many writes can wait. One more is refused.
    pub waiting_writes: usize,
    /// How many writes can share a commit.
    pub batch: usize,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            waiting_reads: 8_192,
            waiting_writes: 8_192,
            batch: 256,
        }
    }
}
