//! Rows of `checkpoints`.

use countersign_domain::checkpoint::{Checkpoint, Digest256, SignedCheckpoint};
use countersign_ports::CheckpointAt;
use diesel::prelude::*;
use time::OffsetDateTime;

use super::event::{Impossible, bytes, exact, required};
use crate::SqlError;
use crate::columns::{At, BigInt, Binary, Exact, Integer, Moment, Nullable, Row, Small, Text};
use crate::statement::row;

row! {
    /// A checkpoint as it is stored.
    pub NewCheckpoint<'a> {
        number: i64 as BigInt,
        sealed_at: At as Moment,
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
    pub fn of(signed: &'a SignedCheckpoint) -> Option<Self> {
        let checkpoint = &signed.checkpoint;
        Some(Self {
            number: i64::try_from(checkpoint.number).ok()?,
            sealed_at: At(checkpoint.sealed_at),
            first_position: i64::try_from(checkpoint.first).ok()?,
            events: i32::try_from(checkpoint.events).ok()?,
            root: checkpoint.root.as_bytes(),
            previous: checkpoint.previous.as_bytes(),
            kept_from: i64::try_from(checkpoint.kept_from).ok()?,
            jws: &signed.jws,
        })
    }
}

/// The SQL types of a [`CheckpointRow`].
pub type CheckpointSql = (
    BigInt,
    Nullable<Moment>,
    Nullable<BigInt>,
    Nullable<Small>,
    Nullable<Binary>,
    Nullable<Binary>,
    Nullable<BigInt>,
    Nullable<Text>,
);

/// What is stored under a number. In a database that was tampered with, any column but the number can be absent or impossible.
#[derive(Debug, Queryable)]
pub struct CheckpointRow {
    number: i64,
    sealed_at: Option<Exact<OffsetDateTime>>,
    first_position: Option<Exact<i64>>,
    events: Option<Exact<i64>>,
    root: Option<Exact<Vec<u8>>>,
    previous: Option<Exact<Vec<u8>>>,
    kept_from: Option<Exact<i64>>,
    jws: Option<Exact<String>>,
}

impl CheckpointRow {
    /// What is there.
    pub fn at(self) -> CheckpointAt {
        let number = u64::try_from(self.number).unwrap_or_default();
        match self.read() {
            Ok(signed) => CheckpointAt::Checkpoint(Box::new(signed)),
            Err(problem) => CheckpointAt::Unreadable { number, problem: problem.to_string() },
        }
    }

    /// The checkpoint.
    pub fn checkpoint(self) -> Result<SignedCheckpoint, SqlError> {
        let number = self.number;
        self.read()
            .map_err(|Impossible(column)| Row { table: "checkpoints", key: &number }.impossible(column))
    }

    fn read(self) -> Result<SignedCheckpoint, Impossible> {
        let number = |column, stored| {
            let stored: Option<i64> = exact(column, stored)?;
            required(column, stored.and_then(|number| u64::try_from(number).ok()))
        };
        let digest = |column, stored| Ok(Digest256::new(required(column, bytes(column, stored)?)?));
        let events = number("events", self.events)?;
        let checkpoint = Checkpoint {
            number: u64::try_from(self.number).map_err(|_| Impossible("number"))?,
            sealed_at: required("sealed_at", exact("sealed_at", self.sealed_at)?)?,
            first: number("first_position", self.first_position)?,
            events: u32::try_from(events).map_err(|_| Impossible("events"))?,
            root: digest("root", self.root)?,
            previous: digest("previous", self.previous)?,
            kept_from: number("kept_from", self.kept_from)?,
        };
        Ok(SignedCheckpoint { checkpoint, jws: required("jws", exact("jws", self.jws)?)? })
    }
}
