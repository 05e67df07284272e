//! Statements for SQLite.
//!
//! Diesel finds the prepared form of such a statement by its type. For its own `INSERT … ON CONFLICT` and
//! `UPDATE` it writes the text again each time, which would be a good part of the work under load.

pub(crate) use countersign_statement::{row, statement};

/// Diesel's name for the database.
pub(crate) type Backend = diesel::sqlite::Sqlite;

/// The connections on which statements run.
pub(crate) type Connection = diesel::SqliteConnection;
