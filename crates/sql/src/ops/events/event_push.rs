//! How far events were pushed to a receiver, and which wait.

use countersign_domain::event_push::{DelayedEvent, ReceiverId};
use countersign_ports::{AdvancePush, BeginPush, EventPush};

use crate::columns::{At, BigInt, Binary, Integer, Moment, Row, Small, StoredSmall, StoredTime, stored};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guard: nothing is known of the receiver.
pub fn begin_push(db: &mut impl Database, command: &BeginPush) -> Result<bool, SqlError> {
    let BeginPush { receiver, position } = command;
    Ok(StorePush { receiver: receiver.as_bytes(), position: stored(*position) }.run(db)? == 1)
}

/// The round comes first: if something changes before the rest is read, nothing can be noted in this round.
pub fn find_push(db: &mut impl Database, receiver: ReceiverId) -> Result<Option<EventPush>, SqlError> {
    let key = format!("{receiver:?}");
    let receiver = receiver.as_bytes().as_slice();
    let found: Option<(i64, i64)> = FindPush { receiver }.maybe(db)?;
    let Some((position, round)) = found else { return Ok(None) };
    let delayed: Vec<(i64, StoredTime, StoredTime, StoredSmall)> = Delayed { receiver }.all(db)?;
    let of_delayed = Row { table: "delayed_events", key: &key };
    let delayed = delayed.into_iter().map(|(position, delayed_at, next_at, tries)| {
        Ok(DelayedEvent {
            position: u64::try_from(position).map_err(|_| of_delayed.impossible("position"))?,
            since: of_delayed.time("delayed_at", delayed_at)?,
            next_at: of_delayed.time("next_at", next_at)?,
            tries: u32::try_from(tries.0).map_err(|_| of_delayed.impossible("tries"))?,
        })
    });
    let row = Row { table: "event_pushes", key: &key };
    Ok(Some(EventPush {
        position: u64::try_from(position).map_err(|_| row.impossible("position"))?,
        round: u64::try_from(round).map_err(|_| row.impossible("round"))?,
        delayed: delayed.collect::<Result<_, SqlError>>()?,
    }))
}

/// Guard: the round is the one that was read.
pub fn advance_push(db: &mut impl Database, command: &AdvancePush) -> Result<bool, SqlError> {
    let AdvancePush { receiver, round, position, delayed } = command;
    let receiver = receiver.as_bytes().as_slice();
    db.all_or_nothing(|db| {
        let advance = Advance { receiver, round: stored(*round), position: stored(*position) };
        if advance.run(db)? == 0 {
            return Err(Undone::Refused(false));
        }
        DropDelayed { receiver }.run(db)?;
        for event in delayed {
            let delay = Delay {
                receiver,
                position: stored(event.position),
                delayed_at: At(event.since),
                next_at: At(event.next_at),
                tries: i32::try_from(event.tries).unwrap_or(i32::MAX),
            };
            delay.run(db)?;
        }
        Ok(true)
    })
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
    Delayed<'a> { receiver: &'a [u8] as Binary } -> (BigInt, Moment, Moment, Small) = "\
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
        position: i64 as BigInt,
        delayed_at: At as Moment,
        next_at: At as Moment,
        tries: i32 as Integer,
    } = "\
        INSERT INTO delayed_events (receiver, position, delayed_at, next_at, tries) \
        VALUES (:receiver, :position, :delayed_at, :next_at, :tries)"
}
