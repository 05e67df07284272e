//! The embedded default: SQLite in WAL mode with one writer that shares commits.
//!
//! - **Writes** are commands. One thread owns the only connection that writes. It carries out all waiting
//!   commands in one transaction, and nobody gets an answer before that transaction is on disk (`synchronous
//!   = FULL`).
//! - **The log** of what was written is copied into the database by a thread beside the writer, not in a
//!   commit.
//! - **Reads** run on a small pool of read-only connections, on Tokio's blocking threads if they have to
//!   wait.
//! - **Several processes** can use one file. A write waits for another process's transaction; reads never
//!   wait.
//!
//! SQLite itself is compiled in, so that everybody runs the version that was tested. The tables are in
//! `migrations/sqlite`; what the operations mean is documented in `countersign_ports`.

mod archive;
mod checkpointer;
mod error;
mod examine;
mod executor;
mod file;
mod look;
mod migrate;
mod ops;
mod options;
mod pool;
mod rows;
mod schema;
mod statement;
mod store;

pub use archive::{SqliteArchive, SqliteTarget};
pub use error::{MigrateError, OpenError};
pub use examine::{Examined, Search, examine};
pub use file::{FileError, files};
pub use look::{Found, has_keys, look};
pub use migrate::{migrate, revert_all};
pub use options::SqliteOptions;
pub use store::{SqliteStorage, WriteStats};
