//! Statements for SQLite.
//!
//! Diesel finds the prepared form of such a statement by its type. It writes the text of its own `INSERT … ON CONFLICT`
//! and `UPDATE` each time; under load that would be a good part of the work.

pub(crate) use countersign_statement::{row, statement};

/// Diesel's name for the database.
pub(crate) type Backend = diesel::sqlite::Sqlite;

/// The connections that carry out statements.
pub(crate) type Connection = diesel::SqliteConnection;
