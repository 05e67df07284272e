//! Statements for PostgreSQL.

mod recorded;

pub(crate) use countersign_sql::{row, statement};
pub(crate) use recorded::{Act, ActText, load};

/// Diesel's name for the database.
pub(crate) type Backend = diesel::pg::Pg;

/// The connections that carry out statements.
pub(crate) type Connection = diesel::PgConnection;
