//! The embedded default: SQLite in WAL mode with one writer that shares commits.
//!
//! - **Writes** are commands. One thread owns the only connection that writes. It carries out all waiting
//!   commands in one transaction, and no caller gets an answer before that transaction is on disk (`synchronous
//!   = FULL`).
//! - **The log** of what was written is copied into the database by a thread beside the writer, not in a
//!   commit.
//! - **Reads** run on a small pool of read-only connections, on Tokio's blocking threads if they have to
//!   wait.
//! - **Several processes** can use one file. A write waits for another process's transaction; reads never
//!   wait.
//!
//! SQLite itself is compiled in, so that everyone runs the version that was tested. The tables are in
//! `migrations/sqlite`; what the operations mean is documented in `countersign_ports`.

mod archive;
mod checkpointer;
mod error;
mod executor;
mod file;
mod ops;
mod options;
#[cfg(test)]
mod plans;
mod pool;
mod setup;
mod statement;
mod store;

pub use archive::{SqliteArchive, SqliteTarget};
pub use error::{FileError, MigrateError, OpenError};
pub use file::files;
pub use options::SqliteOptions;
pub use setup::examine::{Examined, Search, examine};
pub use setup::look::{Found, has_keys, look};
pub use setup::migrate::{migrate, revert_all};
pub use store::{SqliteStorage, WriteStats};
