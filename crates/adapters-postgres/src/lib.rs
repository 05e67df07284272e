//! PostgreSQL storage: one cached statement for each operation, or for many of its kind.
//!
//! An operation is one statement, and so one round trip and one commit: what must happen together stands in one
//! data-modifying `WITH`. The guard is in the `WHERE`, the verdict is the row count; only after a refusal a second
//! statement reads why. Of the operations of every sign-in, all that wait are carried out as one statement (`batch.rs`). What
//! is rare (linking and
//! unlinking wallets, revoking consents, deleting clients and accounts) are transactions of a few statements: what they decide
//! depends on what happened while they waited for a lock.
//!
//! Statements block, so they run on a few threads of their own, and those that are not batched on the runtime's for blocking
//! work, at most as many at once as the pool has connections. What happens while the server is away stands in `pool.rs`.
//!
//! Any number of processes may use one database: nothing is kept in memory.

mod batch;
mod connection;
mod error;
mod migrate;
mod ops;
mod pool;
mod pooling;
mod rows;
mod schema;
mod statement;
mod store;
mod together;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use connection::ConnectError;
pub use migrate::{MigrateError, migrate, revert_all};

use batch::Batches;
use connection::ConnectionUrl;
use pool::Pool;

/// Everything lasting, in PostgreSQL. Cheap to clone: clones share one pool.
#[derive(Clone)]
pub struct PgStorage {
    pool: Pool,
    batches: Arc<Batches>,
}

/// How a [`PgStorage`] uses its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PgOptions {
    /// How many connections, and so how many statements at once.
    pub pool_size: u32,
    /// How many batches of writes may be under way at once.
    pub writers: usize,
    /// How many batches of look-ups may be under way at once.
    pub readers: usize,
    /// How many operations may be under way or wait; one more is refused as overloaded.
    pub queue: usize,
    /// How long an operation may take before it is answered as unavailable.
    pub patience: Duration,
}

impl Default for PgOptions {
    fn default() -> Self {
        Self { pool_size: 10, writers: 2, readers: 2, queue: 1024, patience: Duration::from_secs(2) }
    }
}

impl PgStorage {
    /// Brings the schema up to date and opens a pool. Blocks: call it before serving, or from a thread that may.
    ///
    /// The URL is libpq's, `postgres://user:password@host/database?sslmode=verify-full`. What it says of timeouts and
    /// keepalives wins over what we would choose. One parameter is ours: `pooler=transaction`, for a pooler that lends out
    /// a session for one transaction only; it costs a planning for each statement.
    pub fn connect(url: &str, options: PgOptions) -> Result<Self, MigrateError> {
        let url = ConnectionUrl::parse(url)?;
        url.check()?;
        migrate::run_pending(&url)?;
        let pool = Pool::new(url, options);
        let batches = Batches::start(&pool, options).map_err(MigrateError::Threads)?;
        Ok(Self { pool, batches: Arc::new(batches) })
    }
}

impl fmt::Debug for PgStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgStorage").finish_non_exhaustive()
    }
}
