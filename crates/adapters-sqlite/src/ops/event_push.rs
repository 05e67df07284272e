//! How far events were pushed to a receiver, and which wait.

use countersign_domain::event_push::{DelayedEvent, ReceiverId};
use countersign_ports::{AdvancePush, BeginPush, EventPush};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};

use crate::error::SqliteError;
use crate::rows::checkpoint::stored;
use crate::rows::field::{Row, micros};
use crate::statement::statement;

/// Guard: nothing is known of the receiver.
pub(crate) fn begin_push(
    connection: &mut SqliteConnection,
    command: &BeginPush,
) -> Result<bool, SqliteError> {
    let BeginPush { receiver, position } = command;
    let begin = StorePush { receiver: receiver.as_bytes(), position: stored(*position) };
    Ok(begin.execute(connection)? == 1)
}

/// The round comes first: if something changes before the rest is read, nothing can be noted in this round.
pub(crate) fn find_push(
    connection: &mut SqliteConnection,
    receiver: ReceiverId,
) -> Result<Option<EventPush>, SqliteError> {
    let receiver = receiver.as_bytes().as_slice();
    let row = Row { table: "event_pushes", key: receiver };
    let found: Option<(i64, i64)> = FindPush { receiver }.get_result(connection).optional()?;
    let Some((position, round)) = found else { return Ok(None) };
    let number = |column, value: i64| u64::try_from(value).map_err(|_| row.impossible(column));
    let delayed: Vec<(i64, i64, i64, i64)> = Delayed { receiver }.load(connection)?;
    let of_delayed = Row { table: "delayed_events", key: receiver };
    let delayed = delayed.into_iter().map(|(position, delayed_at, next_at, tries)| {
        Ok(DelayedEvent {
            position: u64::try_from(position).map_err(|_| of_delayed.impossible("position"))?,
            since: of_delayed.time("delayed_at", delayed_at)?,
            next_at: of_delayed.time("next_at", next_at)?,
            tries: u32::try_from(tries).map_err(|_| of_delayed.impossible("tries"))?,
        })
    });
    let delayed = delayed.collect::<Result<_, SqliteError>>()?;
    Ok(Some(EventPush { position: number("position", position)?, round: number("round", round)?, delayed }))
}

/// Guard: the round is the one that was read.
pub(crate) fn advance_push(
    connection: &mut SqliteConnection,
    command: &AdvancePush,
) -> Result<bool, SqliteError> {
    let AdvancePush { receiver, round, position, delayed } = command;
    let receiver = receiver.as_bytes().as_slice();
    let advance = Advance { receiver, round: stored(*round), position: stored(*position) };
    if advance.execute(connection)? == 0 {
        return Ok(false);
    }
    DropDelayed { receiver }.execute(connection)?;
    for event in delayed {
        let delay = Delay {
            receiver,
            position: stored(event.position),
            delayed_at: micros(event.since),
            next_at: micros(event.next_at),
            tries: event.tries.into(),
        };
        delay.execute(connection)?;
    }
    Ok(true)
}

statement! {
    StorePush<'a> {
        receiver: &'a [u8] as Binary,
        position: i64 as BigInt,
    } = "\
        INSERT INTO event_pushes (receiver, position, round) VALUES (:receiver, :position, 0) \
        ON CONFLICT (receiver) DO NOTHING"
}

statement! {
    FindPush<'a> {
        receiver: &'a [u8] as Binary,
    } -> (BigInt, BigInt) = "SELECT position, round FROM event_pushes WHERE receiver = :receiver"
}

statement! {
    Delayed<'a> {
        receiver: &'a [u8] as Binary,
    } -> (BigInt, BigInt, BigInt, BigInt) = "\
        SELECT position, delayed_at, next_at, tries FROM delayed_events \
        WHERE receiver = :receiver ORDER BY position"
}

statement! {
    /// One row if the round is the one that was read, none otherwise.
    Advance<'a> {
        receiver: &'a [u8] as Binary,
        round: i64 as BigInt,
        position: i64 as BigInt,
    } = "\
        UPDATE event_pushes SET position = :position, round = round + 1 \
        WHERE receiver = :receiver AND round = :round"
}

statement! {
    DropDelayed<'a> {
        receiver: &'a [u8] as Binary,
    } = "DELETE FROM delayed_events WHERE receiver = :receiver"
}

statement! {
    Delay<'a> {
        receiver: &'a [u8] as Binary,
        position: i64 as BigInt,
        delayed_at: i64 as BigInt,
        next_at: i64 as BigInt,
        tries: i64 as BigInt,
    } = "\
        INSERT INTO delayed_events (receiver, position, delayed_at, next_at, tries) \
        VALUES (:receiver, :position, :delayed_at, :next_at, :tries)"
}
