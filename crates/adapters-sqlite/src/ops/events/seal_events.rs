//! Fresh events get their positions and a checkpoint.

use countersign_domain::checkpoint::{SealedEvent, SignedCheckpoint};
use countersign_ports::{SealEvents, Sealed};
use countersign_sql::columns::{BigInt, Binary, Nullable, stored};
use countersign_sql::ops::{is_checkpoint, last_checkpoint};
use countersign_sql::rows::checkpoint::NewCheckpoint;
use countersign_sql::rows::event::NewEvent;
use diesel::prelude::*;

use super::day_counts::add_day_counts;
use crate::error::SqliteError;
use crate::statement::statement;

/// Guards: the checkpoint follows the last one, and each event is fresh and as it was read. The second is in the
/// insert. A refusal does not roll back the transaction, which may hold other commands, so it takes back what it
/// inserted. A savepoint would do that too, but it makes each statement go through everything that the statements
/// before it changed.
pub(crate) fn seal_events(
    connection: &mut SqliteConnection,
    command: &SealEvents,
) -> Result<Sealed, SqliteError> {
    let SealEvents { checkpoint: signed, events, counts } = command;
    if let Some(is_same) = is_checkpoint(connection, signed)? {
        return Ok(if is_same { Sealed::Sealed } else { Sealed::Stale });
    }
    let last = last_checkpoint(connection)?;
    let checkpoint = NewCheckpoint::of(signed).filter(|_| follows(signed, last.as_ref(), events));
    let Some(checkpoint) = checkpoint else { return Ok(Sealed::Stale) };
    let (first, next) = (stored(signed.checkpoint.first), stored(signed.checkpoint.next()));
    for sealed in events {
        if store(connection, sealed)? == 0 {
            TakeBack { first, stale: stored(sealed.position) }.execute(connection)?;
            return Ok(Sealed::Stale);
        }
    }
    TakeFresh { first, next }.execute(connection)?;
    StoreCheckpoint { checkpoint }.execute(connection)?;
    add_day_counts(connection, counts)?;
    Ok(Sealed::Sealed)
}

/// Does it come right after the last checkpoint, with these events at its positions?
fn follows(signed: &SignedCheckpoint, last: Option<&SignedCheckpoint>, events: &[SealedEvent]) -> bool {
    let checkpoint = &signed.checkpoint;
    let (number, first) =
        last.map_or((1, 1), |last| (last.checkpoint.number.saturating_add(1), last.checkpoint.next()));
    checkpoint.number == number
        && checkpoint.first == first
        && usize::try_from(checkpoint.events) == Ok(events.len())
        && events.iter().zip(first..).all(|(sealed, position)| sealed.position == position)
}

/// Returns the number of rows: none if the event is not fresh, or not this one.
fn store(connection: &mut SqliteConnection, sealed: &SealedEvent) -> Result<usize, SqliteError> {
    let store = StoreSealed {
        event: NewEvent::of(&sealed.event),
        position: stored(sealed.position),
        salt: sealed.salt.as_ref().map(|salt| salt.as_bytes().as_slice()),
        commitment: sealed.commitment.as_bytes(),
    };
    Ok(store.execute(connection)?)
}

statement! {
    /// One row if the event is fresh and as it was read, none otherwise. One that is there twice has a position
    /// already. `OR FAIL`, because an error ends the transaction anyway: to take back one statement, SQLite would first
    /// copy each page that it changes, here one for each index.
    StoreSealed<'a> {
        ..event: NewEvent<'a>,
        position: i64 as BigInt,
        salt: Option<&'a [u8]> as Nullable<Binary>,
        commitment: &'a [u8] as Binary,
    } = "\
        INSERT OR FAIL INTO events (:event.columns, position, salt, commitment) \
        SELECT :event.columns, :position, :salt, :commitment FROM fresh_events \
        WHERE id = :event.id AND kind = :event.kind AND actor = :event.actor \
        AND user_id IS :event.user_id AND pseudonym IS :event.pseudonym \
        AND family IS :event.family AND chain IS :event.chain AND address IS :event.address \
        AND client_id IS :event.client_id AND peer IS :event.peer AND request IS :event.request \
        AND details = :event.details AND signed IS :event.signed \
        ON CONFLICT (id) DO NOTHING"
}

statement! {
    /// The events that were stored before one was found to be stale.
    TakeBack {
        first: i64 as BigInt,
        stale: i64 as BigInt,
    } = "DELETE FROM events WHERE position >= :first AND position < :stale"
}

statement! {
    /// The events that have a position now.
    TakeFresh {
        first: i64 as BigInt,
        next: i64 as BigInt,
    } = "\
        DELETE FROM fresh_events \
        WHERE id IN (SELECT id FROM events WHERE position >= :first AND position < :next)"
}

statement! {
    StoreCheckpoint<'a> {
        ..checkpoint: NewCheckpoint<'a>,
    } = "INSERT INTO checkpoints (:checkpoint.columns) VALUES (:checkpoint.values)"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys};

    #[test]
    fn sealed_events_leave_the_fresh_ones_by_their_keys() {
        let (_folder, mut connection) = database();
        finds_rows_by_keys(&mut connection, TakeBack { first: 1, stale: 1_000 });
        finds_rows_by_keys(&mut connection, TakeFresh { first: 1, next: 1_001 });
    }
}
