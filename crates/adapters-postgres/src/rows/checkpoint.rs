//! Rows of `checkpoints`.

use countersign_domain::checkpoint::{Checkpoint, Digest256, SignedCheckpoint};
use countersign_ports::CheckpointAt;
use countersign_sql::SqlError;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text, Timestamptz};
use time::OffsetDateTime;

use crate::statement::row;

row! {
    /// A checkpoint as it is stored.
    pub(crate) NewCheckpoint<'a> {
        number: i64 as BigInt,
        sealed_at: OffsetDateTime as Timestamptz,
        first_position: i64 as BigInt,
        events: i32 as Integer,
        root: &'a [u8] as Binary,
        previous: &'a [u8] as Binary,
        kept_from: i64 as BigInt,
        jws: &'a str as Text,
    }
}

impl<'a> NewCheckpoint<'a> {
    /// The row of a checkpoint; none if its numbers are too large for any.
    pub(crate) fn of(signed: &'a SignedCheckpoint) -> Option<Self> {
        let checkpoint = &signed.checkpoint;
        Some(Self {
            number: i64::try_from(checkpoint.number).ok()?,
            sealed_at: checkpoint.sealed_at,
            first_position: i64::try_from(checkpoint.first).ok()?,
            events: i32::try_from(checkpoint.events).ok()?,
            root: checkpoint.root.as_bytes(),
            previous: checkpoint.previous.as_bytes(),
            kept_from: i64::try_from(checkpoint.kept_from).ok()?,
            jws: &signed.jws,
        })
    }
}

/// The SQL types of [`CheckpointRow`]. Any but the number can be absent in a database that was tampered with.
pub(crate) type CheckpointSql = (
    BigInt,
    Nullable<Timestamptz>,
    Nullable<BigInt>,
    Nullable<Integer>,
    Nullable<Binary>,
    Nullable<Binary>,
    Nullable<BigInt>,
    Nullable<Text>,
);

/// What is stored under a number in `checkpoints`.
#[derive(Queryable)]
pub(crate) struct CheckpointRow {
    number: i64,
    sealed_at: Option<OffsetDateTime>,
    first_position: Option<i64>,
    events: Option<i32>,
    root: Option<Vec<u8>>,
    previous: Option<Vec<u8>>,
    kept_from: Option<i64>,
    jws: Option<String>,
}

impl CheckpointRow {
    /// The name of the column is the error if its value is impossible.
    fn read(self) -> Result<SignedCheckpoint, &'static str> {
        let digest = |stored: Option<Vec<u8>>| stored?.try_into().ok().map(Digest256::new);
        let number = |stored: Option<i64>| u64::try_from(stored?).ok();
        let checkpoint = Checkpoint {
            number: number(Some(self.number)).ok_or("number")?,
            sealed_at: self.sealed_at.ok_or("sealed_at")?,
            first: number(self.first_position).ok_or("first_position")?,
            events: self.events.and_then(|events| u32::try_from(events).ok()).ok_or("events")?,
            root: digest(self.root).ok_or("root")?,
            previous: digest(self.previous).ok_or("previous")?,
            kept_from: number(self.kept_from).ok_or("kept_from")?,
        };
        Ok(SignedCheckpoint { checkpoint, jws: self.jws.ok_or("jws")? })
    }
}

impl TryFrom<CheckpointRow> for SignedCheckpoint {
    type Error = SqlError;

    fn try_from(row: CheckpointRow) -> Result<Self, SqlError> {
        let number = row.number.to_string();
        row.read().map_err(|column| SqlError::Corrupt { table: "checkpoints", column, row: number })
    }
}

impl From<CheckpointRow> for CheckpointAt {
    fn from(row: CheckpointRow) -> Self {
        let number = u64::try_from(row.number).unwrap_or_default();
        match row.read() {
            Ok(signed) => Self::Checkpoint(Box::new(signed)),
            Err(column) => Self::Unreadable { number, problem: format!("impossible {column}") },
        }
    }
}
