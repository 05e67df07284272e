//! The embedded default: SQLite in WAL mode with one group-committing writer.
//!
//! - **Writes** are commands. One thread owns the one connection that writes; it carries out whatever waits in one
//!   transaction, and nobody is answered before that transaction is on disk (`synchronous = FULL`).
//! - **The log** of what was written is copied into the database by a thread beside the writer, not in a commit.
//! - **Reads** run on a small pool of connections that cannot write, on Tokio's blocking threads, never on a worker.
//! - **Several processes** may use one file: a write waits for the other process's transaction, reads never wait.
//!
//! SQLite itself is compiled in, so that everybody runs the version that was tested. What is stored has the shape of
//! `migrations/sqlite`; what the operations mean is the documentation of `countersign_ports`.

mod checkpointer;
mod error;
mod executor;
mod file;
mod migrate;
mod ops;
mod options;
mod pool;
mod rows;
mod schema;
mod statement;
mod store;

pub use error::{MigrateError, OpenError};
pub use file::FileError;
pub use migrate::{migrate, revert_all};
pub use options::SqliteOptions;
pub use store::{SqliteStorage, WriteStats};
