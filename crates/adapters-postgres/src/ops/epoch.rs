//! Restoring a backup begins an epoch.

use countersign_domain::epoch::Epoch;
use countersign_domain::id::EpochId;
use countersign_ports::{RaiseEpoch, StoreError};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::record_event::record;
use crate::error::{OpError, OpResult};
use crate::statement::statement;

pub(crate) fn epoch(connection: &mut PgConnection) -> OpResult<Option<Epoch>> {
    let row: Option<EpochRow> = NewestEpoch { above: 0 }.get_result(connection).optional()?;
    row.map(read).transpose()
}

/// Guard: no epoch has this id. Begins a transaction, or a savepoint in that of a restore.
///
/// Two who raise at once get two numbers: the second waits for the table, and sees what the first wrote.
pub(crate) fn raise_epoch(connection: &mut PgConnection, command: &RaiseEpoch) -> OpResult<Epoch> {
    let id = command.id.as_uuid();
    connection.transaction(|connection| {
        connection.batch_execute("LOCK TABLE epochs IN SHARE ROW EXCLUSIVE MODE")?;
        if (StoreEpoch { id, raised_at: command.now }).execute(connection)? == 1 {
            connection.batch_execute(END)?;
            ExpireProposals { now: command.now }.execute(connection)?;
            record(connection, command.event.as_deref())?;
        }
        FindEpoch { id }.get_result(connection).map_err(OpError::from).and_then(read)
    })
}

type EpochRow = (i64, Uuid, OffsetDateTime);

fn read((number, id, raised_at): EpochRow) -> OpResult<Epoch> {
    let number = u64::try_from(number).map_err(|_| {
        OpError::Corrupt(StoreError::Corrupt { table: "epochs", column: "number", row: id.to_string() })
    })?;
    Ok(Epoch { id: EpochId::from_uuid(id), number, raised_at })
}

/// Users come first, so that the triggers of grants find nothing to do.
const END: &str = "\
    UPDATE users SET untold_since = NULL WHERE untold_since IS NOT NULL; \
    DELETE FROM tokens; \
    DELETE FROM grants; \
    DELETE FROM login_sessions; \
    DELETE FROM pushed_requests; \
    DELETE FROM device_requests; \
    UPDATE emails SET confirmation_hash = NULL, confirmation_expires_at = NULL WHERE confirmation_hash IS NOT NULL; \
    DELETE FROM leases; \
    DELETE FROM replicas";

statement! {
    NewestEpoch { above: i64 as BigInt } -> (BigInt, SqlUuid, Timestamptz) = "\
        SELECT number, id, raised_at FROM epochs WHERE number > :above ORDER BY number DESC LIMIT 1"
}

statement! {
    FindEpoch { id: Uuid as SqlUuid } -> (BigInt, SqlUuid, Timestamptz) = "\
        SELECT number, id, raised_at FROM epochs WHERE id = :id"
}

statement! {
    /// One row if the id is free, none otherwise.
    StoreEpoch { id: Uuid as SqlUuid, raised_at: OffsetDateTime as Timestamptz } = "\
        INSERT INTO epochs (number, id, raised_at) \
        SELECT COALESCE((SELECT max(number) FROM epochs), 0) + 1, :id, :raised_at \
        ON CONFLICT (id) DO NOTHING"
}

statement! {
    ExpireProposals { now: OffsetDateTime as Timestamptz } = "\
        UPDATE proposals SET expires_at = :now WHERE state = 'waiting' AND expires_at > :now"
}
