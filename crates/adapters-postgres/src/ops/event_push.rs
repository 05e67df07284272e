//! How far events were pushed to a receiver, and which wait.

use countersign_domain::event_push::{DelayedEvent, ReceiverId};
use countersign_ports::{AdvancePush, BeginPush, EventPush, StoreError};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Integer, Timestamptz};
use time::OffsetDateTime;

use super::transaction::{Undone, all_or_nothing};
use crate::error::{OpError, OpResult};
use crate::statement::statement;

/// Guard: nothing is known of the receiver.
pub(crate) fn begin_push(connection: &mut PgConnection, command: &BeginPush) -> OpResult<bool> {
    let BeginPush { receiver, position } = command;
    let begin = StorePush { receiver: receiver.as_bytes(), position: stored(*position) };
    Ok(begin.execute(connection)? == 1)
}

/// The round comes first: if something changes before the rest is read, nothing can be noted in this round.
pub(crate) fn find_push(connection: &mut PgConnection, receiver: ReceiverId) -> OpResult<Option<EventPush>> {
    let receiver = receiver.as_bytes().as_slice();
    let found: Option<(i64, i64)> = FindPush { receiver }.get_result(connection).optional()?;
    let Some((position, round)) = found else { return Ok(None) };
    let delayed: Vec<(i64, OffsetDateTime, OffsetDateTime, i32)> = Delayed { receiver }.load(connection)?;
    let number = |column, value: i64| u64::try_from(value).map_err(|_| corrupt("event_pushes", column));
    let delayed = delayed.into_iter().map(|(position, since, next_at, tries)| {
        let position = u64::try_from(position).map_err(|_| corrupt("delayed_events", "position"))?;
        let tries = u32::try_from(tries).map_err(|_| corrupt("delayed_events", "tries"))?;
        Ok(DelayedEvent { position, since, next_at, tries })
    });
    let delayed = delayed.collect::<OpResult<_>>()?;
    Ok(Some(EventPush { position: number("position", position)?, round: number("round", round)?, delayed }))
}

/// Guard: the round is the one that was read.
pub(crate) fn advance_push(connection: &mut PgConnection, command: &AdvancePush) -> OpResult<bool> {
    let AdvancePush { receiver, round, position, delayed } = command;
    let receiver = receiver.as_bytes().as_slice();
    all_or_nothing(connection, |connection| {
        let advance = Advance { receiver, round: stored(*round), position: stored(*position) };
        if advance.execute(connection)? == 0 {
            return Err(Undone::Refused(false));
        }
        DropDelayed { receiver }.execute(connection)?;
        let delay = Delay {
            receiver,
            position: delayed.iter().map(|event| stored(event.position)).collect(),
            delayed_at: delayed.iter().map(|event| event.since).collect(),
            next_at: delayed.iter().map(|event| event.next_at).collect(),
            tries: delayed.iter().map(|event| i32::try_from(event.tries).unwrap_or(i32::MAX)).collect(),
        };
        delay.execute(connection)?;
        Ok(true)
    })
}

/// A number or a position. None that was ever given is larger than what the column holds.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn corrupt(table: &'static str, column: &'static str) -> OpError {
    OpError::Corrupt(StoreError::Corrupt { table, column, row: "receiver".to_owned() })
}

statement! {
    StorePush<'a> { receiver: &'a [u8] as Binary, position: i64 as BigInt } = "\
        INSERT INTO event_pushes (receiver, position, round) VALUES (:receiver, :position, 0) \
        ON CONFLICT (receiver) DO NOTHING"
}

statement! {
    FindPush<'a> { receiver: &'a [u8] as Binary } -> (BigInt, BigInt) = "\
        SELECT position, round FROM event_pushes WHERE receiver = :receiver"
}

statement! {
    Delayed<'a> { receiver: &'a [u8] as Binary } -> (BigInt, Timestamptz, Timestamptz, Integer) = "\
        SELECT position, delayed_at, next_at, tries FROM delayed_events \
        WHERE receiver = :receiver ORDER BY position"
}

statement! {
    /// One row if the round is the one that was read, none otherwise. Waits for another replica that does the
    /// same.
    Advance<'a> { receiver: &'a [u8] as Binary, round: i64 as BigInt, position: i64 as BigInt } = "\
        UPDATE event_pushes SET position = :position, round = round + 1 \
        WHERE receiver = :receiver AND round = :round"
}

statement! {
    DropDelayed<'a> { receiver: &'a [u8] as Binary } = "DELETE FROM delayed_events WHERE receiver = :receiver"
}

statement! {
    Delay<'a> {
        receiver: &'a [u8] as Binary,
        position: Vec<i64> as Array<BigInt>,
        delayed_at: Vec<OffsetDateTime> as Array<Timestamptz>,
        next_at: Vec<OffsetDateTime> as Array<Timestamptz>,
        tries: Vec<i32> as Array<Integer>,
    } = "\
        INSERT INTO delayed_events (receiver, position, delayed_at, next_at, tries) \
        SELECT :receiver, delayed.* FROM unnest(:position, :delayed_at, :next_at, :tries) AS delayed"
}
