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
    /// How long an operation can take before its caller gets the error that storage is unavailable.
    pub patience: Duration,
    /// How long a statement waits for another session's lock before it lets others use its connection. It is
    /// tried again for as long as the operation can take. With `pooler=transaction`, a setting of the role
    /// takes its place.
    pub lock_patience: Duration,
}

impl Default for PgOptions {
    fn default() -> Self {
        Self {
            pool_size: 10,
            writers: 2,
            readers: 2,
            queue: 1024,
            patience: Duration::from_secs(2),
            lock_patience: Duration::from_millis(100),
        }
    }
}

/// How many threads carry out commands one by one. They may have to wait for locks.
pub(crate) const SINGLES: usize = 2;
