//! Events and checkpoints are read: those that wait to be sealed, those that are, and what cannot be either.

use countersign_domain::checkpoint::SignedCheckpoint;
use countersign_domain::event::{Event, EventKind, Pseudonym};
use countersign_domain::id::EventId;
use countersign_ports::{CheckpointAt, EventAt, FoundEvent, FreshAt, Recent, UnsealableEvent};

use crate::columns::{BigInt, Binary, Bool, Id, Key, Nullable, StoredId, Text, micros, stored};
use crate::database::Statement;
use crate::rows::checkpoint::{CheckpointRow, CheckpointSql};
use crate::rows::event::{EventRow, EventSql, SealedRow, SealedSql, event_columns};
use crate::statement::statement;
use crate::{Database, SqlError};

/// How many fresh events are read at once, at most.
const FRESH_PAGE: u32 = 1_000;

/// One statement sees one state of the database: an event that is sealed meanwhile is not missed.
pub fn find_event(db: &mut impl Database, id: EventId) -> Result<Option<FoundEvent>, SqlError> {
    let found: Option<(EventRow, Option<i64>)> = FindEvent { id: id.into() }.maybe(db)?;
    let Some((row, position)) = found else { return Ok(None) };
    let event = row.event(if position.is_some() { "events" } else { "fresh_events" })?;
    Ok(Some(FoundEvent { event, position: position.and_then(|position| u64::try_from(position).ok()) }))
}

/// One statement, too. Fresh events come from all of them: they are few, and sign-ins do not pay for an index.
pub fn events_of_request(
    db: &mut impl Database,
    request: &str,
    after: Option<EventId>,
    limit: u32,
) -> Result<Vec<Event>, SqlError> {
    let after = after.map(|after| Id::from(after).into());
    let rows: Vec<(EventRow, bool)> = EventsOfRequest { request, after, limit: limit.into() }.all(db)?;
    let mut events = Vec::new();
    for (row, is_fresh) in rows {
        match row.event("events") {
            Ok(event) => events.push(event),
            // No operation of ours wrote it, and it waits to be reported.
            Err(_) if is_fresh => {}
            Err(error) => return Err(error),
        }
    }
    // What is sealed comes first, so of an event and its copy the copy goes.
    events.dedup_by_key(|event| event.id);
    Ok(events)
}

/// The oldest first. Goes past rows that cannot be sealed, however many there are.
pub fn fresh_events(db: &mut impl Database, limit: u32) -> Result<Vec<Event>, SqlError> {
    let mut events = Vec::new();
    // As many as are asked for are enough where all can be sealed; a few more statements go past many that cannot.
    read_fresh(db, None, None, limit, limit.clamp(100, FRESH_PAGE), |at| {
        if let FreshAt::Event(event) = at {
            events.push(*event);
        }
        events.len()
    })?;
    events.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(events)
}

/// Rows whose id is not even bytes come first, in one line.
pub fn unsealable_events(
    db: &mut impl Database,
    limit: u32,
    except: Option<Recent>,
) -> Result<Vec<UnsealableEvent>, SqlError> {
    let strays: i64 = StrayFresh {}.one(db)?;
    let problem = format!("{strays} rows with an impossible id");
    let mut found: Vec<_> =
        (strays > 0).then_some(UnsealableEvent { id: None, problem }).into_iter().collect();
    let ranges = match except {
        Some(recent) => vec![(None, Some(recent.first())), (Some(recent.last()), None)],
        None => vec![(None, None)],
    };
    for (after, before) in ranges {
        read_fresh(db, after, before, limit, FRESH_PAGE, |at| {
            if let FreshAt::Unsealable(event) = at {
                found.push(event);
            }
            found.len()
        })?;
    }
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found)
}

/// Reads fresh events with ids in between, a page at a time, until so many are taken.
fn read_fresh(
    db: &mut impl Database,
    after: Option<EventId>,
    before: Option<EventId>,
    limit: u32,
    page: u32,
    mut take: impl FnMut(FreshAt) -> usize,
) -> Result<(), SqlError> {
    let mut after: Option<StoredId> = after.map(|after| Id::from(after).into());
    loop {
        let oldest = OldestFresh { after: after.take(), before: before.map(Id::from), limit: page.into() };
        let rows: Vec<(StoredId, EventRow, bool)> = oldest.all(db)?;
        let is_last = rows.len() < usize::try_from(page).unwrap_or(usize::MAX);
        let mut taken = 0;
        for (id, row, is_copy) in rows {
            after = Some(id);
            taken = take(row.fresh(is_copy));
        }
        if is_last || taken >= usize::try_from(limit).unwrap_or(usize::MAX) {
            return Ok(());
        }
    }
}

pub fn last_checkpoint(db: &mut impl Database) -> Result<Option<SignedCheckpoint>, SqlError> {
    let row: Option<CheckpointRow> = LastCheckpoint {}.maybe(db)?;
    row.map(CheckpointRow::checkpoint).transpose()
}

/// Is the checkpoint with its number this one, as it is stored? `None` if there is none with that number.
pub fn is_checkpoint(db: &mut impl Database, given: &SignedCheckpoint) -> Result<Option<bool>, SqlError> {
    let found: Option<CheckpointRow> =
        FindCheckpoint { number: stored(given.checkpoint.number) }.maybe(db)?;
    Ok(found.map(|found| {
        found.checkpoint().is_ok_and(|mut found| {
            let is_then = micros(found.checkpoint.sealed_at) == micros(given.checkpoint.sealed_at);
            found.checkpoint.sealed_at = given.checkpoint.sealed_at;
            is_then && found == *given
        })
    }))
}

/// What has a number before the first is reported at the beginning, in one line.
pub fn checkpoints(db: &mut impl Database, after: u64, limit: u32) -> Result<Vec<CheckpointAt>, SqlError> {
    let strays: i64 = if after == 0 { StrayCheckpoints {}.one(db)? } else { 0 };
    let problem = format!("{strays} rows with numbers before the first");
    let strays = (strays > 0).then_some(CheckpointAt::Unreadable { number: 0, problem });
    let rows: Vec<CheckpointRow> = Checkpoints { after: stored(after), limit: limit.into() }.all(db)?;
    let found = strays.into_iter().chain(rows.into_iter().map(CheckpointRow::at));
    Ok(found.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
}

/// What has a position before the first is reported at the beginning, in one line.
pub fn sealed_events(db: &mut impl Database, after: u64, limit: u32) -> Result<Vec<EventAt>, SqlError> {
    let strays: i64 = if after == 0 { StrayEvents {}.one(db)? } else { 0 };
    let problem = format!("{strays} rows at positions before the first");
    let strays = (strays > 0).then_some(EventAt::Unreadable { position: 0, problem });
    let rows: Vec<SealedRow> = SealedEvents { after: stored(after), limit: limit.into() }.all(db)?;
    let found = strays.into_iter().chain(rows.into_iter().map(SealedRow::at));
    Ok(found.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
}

/// The event of the deletion itself is not counted.
pub fn count_events_of(db: &mut impl Database, pseudonym: Pseudonym) -> Result<u64, SqlError> {
    let (pseudonym, deletion) = (pseudonym.as_bytes().as_slice(), EventKind::AccountDeleted.name());
    let count: i64 = CountEventsOf { pseudonym, deletion }.one(db)?;
    Ok(u64::try_from(count).unwrap_or_default())
}

statement! {
    pub FindEvent { id: Id as Key } -> (EventSql, Nullable<BigInt>) = concat!(
        "SELECT ", event_columns!(), ", NULL AS position FROM fresh_events WHERE id = :id \
        UNION ALL SELECT ", event_columns!(), ", position FROM events WHERE id = :id LIMIT 1"
    )
}

statement! {
    /// In PostgreSQL sealed events are sorted by all columns of the index, so that the planner does not go by their ids.
    pub EventsOfRequest<'a> {
        request: &'a str as Text,
        after: Option<StoredId> as Nullable<Key>,
        limit: i64 as BigInt,
    } -> (EventSql, Bool),
    sqlite = concat!(
        "SELECT ", event_columns!(), ", is_fresh FROM ( \
          SELECT * FROM (SELECT ", event_columns!(), ", TRUE AS is_fresh FROM fresh_events \
            WHERE request = :request AND id > COALESCE(:after, x'') ORDER BY id LIMIT :limit) \
          UNION ALL \
          SELECT * FROM (SELECT ", event_columns!(), ", FALSE AS is_fresh FROM events INDEXED BY events_by_request \
            WHERE request = :request AND id > COALESCE(:after, x'') ORDER BY id LIMIT :limit) \
        ) ORDER BY id, is_fresh LIMIT :limit"
    ),
    postgres = concat!(
        "SELECT ", event_columns!(), ", is_fresh FROM ( \
          (SELECT ", event_columns!(), ", TRUE AS is_fresh FROM fresh_events \
            WHERE request = :request AND (:after IS NULL OR id > :after) ORDER BY id LIMIT :limit) \
          UNION ALL \
          (SELECT ", event_columns!(), ", FALSE AS is_fresh FROM events \
            WHERE (request, id) > (:request, COALESCE(:after, UUID '00000000-0000-0000-0000-000000000000')) \
            AND (request, id) <= (:request, UUID 'ffffffff-ffff-ffff-ffff-ffffffffffff') \
            AND request IS NOT NULL ORDER BY request, id LIMIT :limit) \
        ) AS named ORDER BY id, is_fresh LIMIT :limit"
    )
}

statement! {
    /// In SQLite every id that is bytes comes after the empty one. Without `OFFSET 0`, PostgreSQL reads all of `events` into
    /// a hash table where it expects many fresh ones, although `LIMIT` takes few.
    pub OldestFresh {
        after: Option<StoredId> as Nullable<Key>,
        before: Option<Id> as Nullable<Key>,
        limit: i64 as BigInt,
    } -> (Key, EventSql, Bool),
    sqlite = concat!(
        "SELECT id, ", event_columns!(), ", EXISTS (SELECT 1 FROM events WHERE events.id = fresh_events.id) \
        FROM fresh_events WHERE id > COALESCE(:after, x'') AND (:before IS NULL OR id < :before) \
        ORDER BY id LIMIT :limit"
    ),
    postgres = concat!(
        "SELECT id, ", event_columns!(), ", EXISTS (SELECT FROM events WHERE events.id = fresh_events.id OFFSET 0) \
        FROM fresh_events WHERE (:after IS NULL OR id > :after) AND (:before IS NULL OR id < :before) \
        ORDER BY id LIMIT :limit"
    )
}

statement! {
    /// In SQLite what is not bytes comes before the empty bytes.
    pub StrayFresh {} -> BigInt,
    sqlite = "SELECT count(*) FROM fresh_events WHERE id <= x''",
    postgres = "SELECT CAST(0 AS BIGINT)"
}

/// The columns of a [`CheckpointRow`], with the time from one of these texts.
macro_rules! checkpoint_columns {
    ($sealed_at:literal) => {
        concat!("number, ", $sealed_at, ", first_position, events, root, previous, kept_from, jws")
    };
}

/// Declares statements that read checkpoints. In PostgreSQL, a time that we cannot represent is absent.
macro_rules! checkpoint_statements {
    ($($name:ident { $($field:ident: $rust:ty as $sql:ty),* } = $from:literal)*) => { $(
        statement! {
            pub $name { $($field: $rust as $sql),* } -> CheckpointSql,
            sqlite = concat!("SELECT ", checkpoint_columns!("sealed_at"), " FROM checkpoints ", $from),
            postgres = concat!("SELECT ", checkpoint_columns!(
                "CASE WHEN sealed_at >= '0001-01-01Z' AND sealed_at < '9999-01-01Z' THEN sealed_at END"
            ), " FROM checkpoints ", $from)
        }
    )* };
}

checkpoint_statements! {
    LastCheckpoint {} = "ORDER BY number DESC LIMIT 1"
    FindCheckpoint { number: i64 as BigInt } = "WHERE number = :number"
    Checkpoints { after: i64 as BigInt, limit: i64 as BigInt } =
        "WHERE number > :after ORDER BY number LIMIT :limit"
}

statement! {
    pub StrayCheckpoints {} -> BigInt = "SELECT count(*) FROM checkpoints WHERE number < 1"
}

statement! {
    pub SealedEvents { after: i64 as BigInt, limit: i64 as BigInt } -> SealedSql = concat!(
        "SELECT position, ", event_columns!(), ", salt, commitment, hiding_proof \
        FROM events WHERE position > :after ORDER BY position LIMIT :limit"
    )
}

statement! {
    pub StrayEvents {} -> BigInt = "SELECT count(*) FROM events WHERE position < 1"
}

statement! {
    pub CountEventsOf<'a> { pseudonym: &'a [u8] as Binary, deletion: &'a str as Text } -> BigInt = "\
        SELECT (SELECT count(*) FROM fresh_events WHERE pseudonym = :pseudonym AND kind <> :deletion) \
        + (SELECT count(*) FROM events WHERE pseudonym = :pseudonym AND kind <> :deletion)"
}
