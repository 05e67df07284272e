//! What both SQL databases store and do in the same way, written once: columns, tables, rows, how statements are
//! declared, migrations, the archive, and the operations that are not hot.
//!
//! An operation here is generic over the [`Database`], and is compiled for each of them: nothing is chosen while the
//! server runs. Where the databases differ, their two texts stand one below the other. What every sign-in or token needs,
//! batches, and reading events stay in the adapters: there each database has its own plan.

pub mod archive;
pub mod columns;
pub mod database;
pub mod error;
pub mod ops;
pub mod rows;
pub mod schema;
pub mod setup;
pub mod statement;

pub use database::{Database, Undone};
pub use error::SqlError;
