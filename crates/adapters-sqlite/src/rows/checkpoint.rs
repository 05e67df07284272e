//! Rows of `checkpoints`.

use countersign_sql::columns::{Moment, Small};
use countersign_sql::rows::checkpoint;
use countersign_sql::rows::event::Impossible;
use diesel::sql_types::{BigInt, Nullable, Text};

use super::event::{Bytes, have_types};

/// The columns of [`CheckpointRow`]. SQLite converts any value to a blob.
macro_rules! checkpoint_columns {
    () => {
        "typeof(sealed_at) || ' ' || typeof(first_position) || ' ' || typeof(events) || ' ' || \
        typeof(root) || ' ' || typeof(previous) || ' ' || typeof(kept_from) || ' ' || typeof(jws), \
        number, sealed_at, first_position, events, root, previous, kept_from, CAST(jws AS BLOB)"
    };
}
pub(crate) use checkpoint_columns;

/// The SQL type of [`checkpoint_columns`].
pub(crate) type CheckpointSql = (
    Text,
    (BigInt, Nullable<Moment>, Nullable<BigInt>, Nullable<Small>, Bytes, Bytes, Nullable<BigInt>, Bytes),
);

/// What type each column has.
const COLUMNS: [(&str, &str); 7] = [
    ("sealed_at", "integer"),
    ("first_position", "integer"),
    ("events", "integer"),
    ("root", "blob"),
    ("previous", "blob"),
    ("kept_from", "integer"),
    ("jws", "text"),
];

/// The types of the columns, and what was read under a number.
pub(crate) type CheckpointRow = (String, checkpoint::CheckpointRow<Vec<u8>>);

/// Has a checkpoint these types?
pub(crate) fn is_checkpoint(types: &str) -> Result<(), Impossible> {
    have_types(types, &COLUMNS)
}
