//! Fresh events are sealed.

use std::collections::HashSet;

use countersign_domain::checkpoint::{Checkpoint, SealedEvent};
use countersign_domain::id::EventId;
use countersign_ports::{SealEvents, Sealed};
use countersign_sql::ops::is_checkpoint;
use countersign_sql::rows::checkpoint::NewCheckpoint;
use countersign_sql::rows::event::{NewEvent, NewEvents};
use countersign_sql::{Database, SqlError, Undone};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Nullable};

use super::day_counts::add_day_counts;
use crate::statement::statement;

pub(crate) fn seal_events(connection: &mut PgConnection, command: &SealEvents) -> Result<Sealed, SqlError> {
    let SealEvents { checkpoint: signed, events, counts } = command;
    let checkpoint = NewCheckpoint::of(signed).filter(|_| has_these(&signed.checkpoint, events));
    connection.all_or_nothing(|connection| {
        let is_next = match checkpoint {
            Some(checkpoint) => StoreCheckpoint { checkpoint }.execute(connection)? == 1,
            None => false,
        };
        if !is_next {
            // A statement of its own: it sees the checkpoint of the sealer that the one before waited for.
            let is_repeated = is_checkpoint(connection, signed)? == Some(true);
            return Err(Undone::Refused(if is_repeated { Sealed::Sealed } else { Sealed::Stale }));
        }
        let store = StoreSealed {
            events: events.iter().map(|sealed| NewEvent::of(&sealed.event)).collect(),
            position: events.iter().filter_map(|sealed| i64::try_from(sealed.position).ok()).collect(),
            salt: events.iter().map(|sealed| sealed.salt.as_ref().map(|salt| &salt.as_bytes()[..])).collect(),
            commitment: events.iter().map(|sealed| &sealed.commitment.as_bytes()[..]).collect(),
        };
        if store.execute(connection)? != events.len() {
            return Err(Undone::Refused(Sealed::Stale));
        }
        add_day_counts(connection, counts)?;
        Ok(Sealed::Sealed)
    })
}

/// Are these the events of the checkpoint, each once and at its positions?
fn has_these(checkpoint: &Checkpoint, events: &[SealedEvent]) -> bool {
    let positions = events.iter().map(|sealed| sealed.position);
    let ids: HashSet<EventId> = events.iter().map(|sealed| sealed.event.id).collect();
    u32::try_from(ids.len()) == Ok(checkpoint.events) && positions.eq(checkpoint.first..checkpoint.next())
}

statement! {
    /// One row if it follows the last checkpoint, none otherwise. Waits for another sealer that stores the same
    /// number.
    StoreCheckpoint<'a> {
        ..checkpoint: NewCheckpoint<'a>,
    } = "\
        WITH last AS MATERIALIZED ( \
          SELECT number, first_position + events AS next FROM checkpoints ORDER BY number DESC LIMIT 1 \
        ) \
        INSERT INTO checkpoints (:checkpoint.columns) SELECT :checkpoint.values \
        WHERE :checkpoint.number = COALESCE((SELECT number FROM last), 0) + 1 \
          AND :checkpoint.first_position = COALESCE((SELECT next FROM last), 1) \
        ON CONFLICT (number) DO NOTHING"
}

statement! {
    /// One row for each event that is fresh and as it was read. Locks them in the order of their ids, as where
    /// an account is deleted; waits for that.
    StoreSealed<'a> {
        ..events: NewEvents<'a>,
        position: Vec<i64> as Array<BigInt>,
        salt: Vec<Option<&'a [u8]>> as Array<Nullable<Binary>>,
        commitment: Vec<&'a [u8]> as Array<Binary>,
    } = "\
        WITH asked AS MATERIALIZED ( \
          SELECT * FROM unnest(:events.values, :position, :salt, :commitment) \
          AS asked (:events.columns, position, salt, commitment) ORDER BY id \
        ), held AS MATERIALIZED ( \
          SELECT asked.* FROM asked CROSS JOIN LATERAL ( \
            SELECT :events.columns FROM fresh_events WHERE fresh_events.id = asked.id OFFSET 0 FOR UPDATE \
          ) AS fresh \
          WHERE ROW(fresh.*) IS NOT DISTINCT FROM ROW(asked.id, asked.kind, asked.actor, asked.user_id, \
            asked.pseudonym, asked.family, asked.chain, asked.address, asked.client_id, asked.peer, \
            asked.request, asked.details, asked.signed) \
        ), taken AS ( \
          DELETE FROM fresh_events USING held WHERE fresh_events.id = held.id \
        ) \
        INSERT INTO events (position, :events.columns, salt, commitment) \
        SELECT position, :events.columns, salt, commitment FROM held ORDER BY position"
}
