//! Rows of `checkpoints`.

use countersign_domain::checkpoint::{Checkpoint, Digest256, SignedCheckpoint};
use countersign_ports::CheckpointAt;
use countersign_sql::SqlError;
use countersign_sql::columns::{Row, StoredTime, micros, stored};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::event::{Bytes, Impossible, bytes, have_types, required, text};
use crate::statement::row;

row! {
    /// A checkpoint as it is stored.
    pub(crate) NewCheckpoint<'a> {
        number: i64 as BigInt,
        sealed_at: i64 as BigInt,
        first_position: i64 as BigInt,
        events: i64 as BigInt,
        root: &'a [u8] as Binary,
        previous: &'a [u8] as Binary,
        kept_from: i64 as BigInt,
        jws: &'a str as Text,
    }
}

impl<'a> NewCheckpoint<'a> {
    pub(crate) fn of(signed: &'a SignedCheckpoint) -> Self {
        let checkpoint = &signed.checkpoint;
        Self {
            number: stored(checkpoint.number),
            sealed_at: micros(checkpoint.sealed_at),
            first_position: stored(checkpoint.first),
            events: checkpoint.events.into(),
            root: checkpoint.root.as_bytes(),
            previous: checkpoint.previous.as_bytes(),
            kept_from: stored(checkpoint.kept_from),
            jws: &signed.jws,
        }
    }
}

/// The columns of [`CheckpointRow`]. SQLite converts any value to a blob.
macro_rules! checkpoint_columns {
    () => {
        "number, typeof(sealed_at) || ' ' || typeof(first_position) || ' ' || typeof(events) || ' ' || \
        typeof(root) || ' ' || typeof(previous) || ' ' || typeof(kept_from) || ' ' || typeof(jws), \
        sealed_at, first_position, events, root, previous, kept_from, CAST(jws AS BLOB)"
    };
}
pub(crate) use checkpoint_columns;

/// The SQL type of [`checkpoint_columns`].
pub(crate) type CheckpointSql = (BigInt, Text, Int, Int, Int, Bytes, Bytes, Int, Bytes);

type Int = Nullable<BigInt>;

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

/// What was read under a number.
#[derive(Queryable)]
pub(crate) struct CheckpointRow {
    number: i64,
    types: String,
    sealed_at: Option<i64>,
    first_position: Option<i64>,
    events: Option<i64>,
    root: Option<Vec<u8>>,
    previous: Option<Vec<u8>>,
    kept_from: Option<i64>,
    jws: Option<Vec<u8>>,
}

impl From<CheckpointRow> for CheckpointAt {
    fn from(row: CheckpointRow) -> Self {
        let number = u64::try_from(row.number).unwrap_or_default();
        match row.read(number) {
            Ok(signed) => Self::Checkpoint(Box::new(signed)),
            Err(problem) => Self::Unreadable { number, problem: problem.to_string() },
        }
    }
}

impl TryFrom<CheckpointRow> for SignedCheckpoint {
    type Error = SqlError;

    fn try_from(row: CheckpointRow) -> Result<Self, SqlError> {
        let key = row.number.to_string();
        let at = Row { table: "checkpoints", key: &key };
        let number = u64::try_from(row.number).map_err(|_| at.impossible("number"))?;
        row.read(number).map_err(|Impossible(column)| at.impossible(column))
    }
}

impl CheckpointRow {
    fn read(self, number: u64) -> Result<SignedCheckpoint, Impossible> {
        have_types(&self.types, &COLUMNS)?;
        let at = Row { table: "checkpoints", key: &number };
        let sealed_at = at.time("sealed_at", StoredTime::of_micros(required(self.sealed_at, "sealed_at")?));
        let checkpoint = Checkpoint {
            number,
            sealed_at: sealed_at.map_err(|_| Impossible("sealed_at"))?,
            first: counted("first_position", self.first_position)?,
            events: counted("events", self.events)?,
            root: Digest256::new(required(bytes("root", self.root)?, "root")?),
            previous: Digest256::new(required(bytes("previous", self.previous)?, "previous")?),
            kept_from: counted("kept_from", self.kept_from)?,
        };
        Ok(SignedCheckpoint { checkpoint, jws: required(text("jws", self.jws)?, "jws")? })
    }
}

fn counted<N: TryFrom<i64>>(column: &'static str, number: Option<i64>) -> Result<N, Impossible> {
    number.and_then(|number| N::try_from(number).ok()).ok_or(Impossible(column))
}
