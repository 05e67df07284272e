//! Restoring a backup begins an epoch.

use countersign_domain::epoch::Epoch;
use countersign_ports::RaiseEpoch;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::field::{Row, micros};
use crate::statement::statement;

pub(crate) fn epoch(connection: &mut SqliteConnection) -> Result<Option<Epoch>, SqliteError> {
    let row: Option<EpochRow> = NewestEpoch { above: 0 }.get_result(connection).optional()?;
    row.map(read).transpose()
}

/// Guard: no epoch has this id. The caller's transaction can be that of a restore, so this begins none.
pub(crate) fn raise_epoch(
    connection: &mut SqliteConnection,
    command: &RaiseEpoch,
) -> Result<Epoch, SqliteError> {
    let id = command.id.as_uuid();
    if (StoreEpoch { id: id.as_bytes(), raised_at: micros(command.now) }).execute(connection)? == 1 {
        connection.batch_execute(END)?;
        ExpireProposals { now: micros(command.now) }.execute(connection)?;
        record(connection, command.event.as_deref())?;
    }
    FindEpoch { id: id.as_bytes() }.get_result(connection).map_err(SqliteError::from).and_then(read)
}

type EpochRow = (i64, Vec<u8>, i64);

fn read((number, id, raised_at): EpochRow) -> Result<Epoch, SqliteError> {
    let at = Row { table: "epochs", key: &id };
    Ok(Epoch {
        id: at.id("id", &id)?,
        number: u64::try_from(number).map_err(|_| at.impossible("number"))?,
        raised_at: at.time("raised_at", raised_at)?,
    })
}

/// Users come first, so that the triggers of grants find nothing to do, and access tokens before tokens for the same reason.
const END: &str = "\
    UPDATE users SET untold_since = NULL WHERE untold_since IS NOT NULL; \
    DELETE FROM access_tokens; \
    DELETE FROM tokens; \
    DELETE FROM grants; \
    DELETE FROM login_sessions; \
    DELETE FROM pushed_requests; \
    DELETE FROM device_requests; \
    UPDATE emails SET confirmation_hash = NULL, confirmation_expires_at = NULL WHERE confirmation_hash IS NOT NULL; \
    DELETE FROM leases; \
    DELETE FROM replicas;";

statement! {
    NewestEpoch {
        above: i64 as BigInt,
    } -> (BigInt, Binary, BigInt) = "\
        SELECT number, id, raised_at FROM epochs WHERE number > :above ORDER BY number DESC LIMIT 1"
}

statement! {
    FindEpoch<'a> {
        id: &'a [u8] as Binary,
    } -> (BigInt, Binary, BigInt) = "SELECT number, id, raised_at FROM epochs WHERE id = :id"
}

statement! {
    /// One row if the id is free, none otherwise.
    StoreEpoch<'a> {
        id: &'a [u8] as Binary,
        raised_at: i64 as BigInt,
    } = "\
        INSERT INTO epochs (number, id, raised_at) \
        SELECT COALESCE((SELECT max(number) FROM epochs), 0) + 1, :id, :raised_at WHERE true \
        ON CONFLICT (id) DO NOTHING"
}

statement! {
    ExpireProposals {
        now: i64 as BigInt,
    } = "UPDATE proposals SET expires_at = :now WHERE state = 'waiting' AND expires_at > :now"
}
