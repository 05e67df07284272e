//! Rows of `fresh_events` and `events`.
//!
//! Verification of events does not trust the database. So every column is read as bytes, whatever it holds,
//! and of sealed events also its type: a text that is stored as a blob reads the same, and no index finds it.

use countersign_sql::rows::event::{self, Impossible};
use diesel::sql_types::{Binary, Nullable};

/// The columns of [`EventRow`]. SQLite converts any value to a blob.
macro_rules! event_columns {
    () => {
        "id, CAST(kind AS BLOB), CAST(actor AS BLOB), user_id, pseudonym, CAST(family AS BLOB), \
        CAST(chain AS BLOB), CAST(address AS BLOB), client_id, CAST(peer AS BLOB), CAST(request AS BLOB), \
        CAST(details AS BLOB), CAST(signed AS BLOB)"
    };
}
pub(crate) use event_columns;

/// The SQL type of [`event_columns`].
pub(crate) type EventSql =
    (Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes);

/// Bytes, or nothing.
pub(crate) type Bytes = Nullable<Binary>;

/// An event as it was read.
pub(crate) type EventRow = event::EventRow<Vec<u8>, Vec<u8>>;

/// What was read at a position.
pub(crate) type SealedRow = event::SealedRow<Vec<u8>, Vec<u8>>;

/// The types of the columns of an event, in the order of [`SEALED_COLUMNS`].
macro_rules! event_types {
    () => {
        "typeof(id) || ' ' || typeof(kind) || ' ' || typeof(actor) || ' ' || typeof(user_id) || ' ' || \
        typeof(pseudonym) || ' ' || typeof(family) || ' ' || typeof(chain) || ' ' || typeof(address) || ' ' || \
        typeof(client_id) || ' ' || typeof(peer) || ' ' || typeof(request) || ' ' || typeof(details) || ' ' || \
        typeof(signed)"
    };
}
pub(crate) use event_types;

/// The same with those that a [`SealedRow`] has besides.
macro_rules! sealed_types {
    () => {
        concat!(
            event_types!(),
            " || ' ' || typeof(salt) || ' ' || typeof(commitment) || ' ' || typeof(hiding_proof)"
        )
    };
}
pub(crate) use sealed_types;

/// How many of [`SEALED_COLUMNS`] a fresh event has.
const EVENT_COLUMNS: usize = 13;

/// What type each column has, if it is not `NULL`.
const SEALED_COLUMNS: [(&str, &str); 16] = [
    ("id", "blob"),
    ("kind", "text"),
    ("actor", "text"),
    ("user_id", "blob"),
    ("pseudonym", "blob"),
    ("family", "text"),
    ("chain", "text"),
    ("address", "text"),
    ("client_id", "blob"),
    ("peer", "text"),
    ("request", "text"),
    ("details", "text"),
    ("signed", "text"),
    ("salt", "blob"),
    ("commitment", "blob"),
    ("hiding_proof", "blob"),
];

/// Has a fresh event these types?
pub(crate) fn is_fresh_event(types: &str) -> Result<(), Impossible> {
    have_types(types, &SEALED_COLUMNS[..EVENT_COLUMNS])
}

/// Has a sealed event these types?
pub(crate) fn is_sealed_event(types: &str) -> Result<(), Impossible> {
    have_types(types, &SEALED_COLUMNS)
}

/// Checks types as SQLite names them, with spaces between them. `NULL` is judged elsewhere.
pub(super) fn have_types(types: &str, columns: &[(&'static str, &str)]) -> Result<(), Impossible> {
    let mut types = types.split(' ');
    for (column, expected) in columns {
        if !types.next().is_some_and(|found| found == *expected || found == "null") {
            return Err(Impossible(column));
        }
    }
    Ok(())
}
