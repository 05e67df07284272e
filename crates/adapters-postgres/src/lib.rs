//! PostgreSQL storage: one cached statement for each operation, or for many of the same kind.
//!
//! An operation is one statement, and so one round trip and one commit: what must happen together is in one
//! data-modifying `WITH`. The guard is in the `WHERE`, and the row count says whether it held. Only after a
//! refusal does a second statement read why. The operations that every sign-in needs are batched: all that
//! are waiting are carried out as one statement (`batch.rs`). What is rare (linking and unlinking wallets,
//! revoking consents, deleting clients and accounts) is a transaction of a few statements, because what they
//! decide depends on what happened while they waited for a lock.
//!
//! Statements block. Batches run on a few threads of their own, everything else on the runtime's threads for
//! blocking work, never more at once than the pool has connections. `pool.rs` says what happens while the
//! server is away, and `connections.rs` who opens and closes connections.
//!
//! Any number of processes can use one database: nothing is kept in memory.

mod archive;
mod batch;
mod batched;
mod connect;
mod error;
mod ops;
mod options;
mod setup;
mod statement;
mod store;
mod together;

pub use archive::{PgArchive, PgTarget};
pub use error::ConnectError;
pub use options::PgOptions;
pub use setup::examine::{Examined, examine};
pub use setup::look::{Found, look};
pub use setup::migrate::{MigrateError, migrate, revert_all};
pub use store::PgStorage;

#[cfg(test)]
mod tests;
