//! Look-ups of events and checkpoints. Each is one statement and so sees one state of the database, however
//! many events are being sealed.

use countersign_domain::checkpoint::SignedCheckpoint;
use countersign_domain::event::{Event, EventKind, EventPerson, Pseudonym};
use countersign_domain::id::EventId;
use countersign_domain::subject::Subject;
use countersign_ports::{
    CheckpointAt, EventAt, EventFilter, EventOrder, EventPage, FoundEvent, FreshAt, UnsealableEvent,
};
use countersign_sql::SqlError;
use countersign_sql::columns::{Moment, Row, Small};
use countersign_sql::rows::checkpoint::CheckpointRow;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::rows::event::{AskedPage, EventRow, EventSql, SealedRow, SealedSql};
use crate::statement::statement;

pub(crate) fn list_events(
    connection: &mut PgConnection,
    filter: &EventFilter,
    page: EventPage,
) -> OpResult<Vec<Event>> {
    let Some((lowest, highest)) = bounds(filter, page) else { return Ok(Vec::new()) };
    let kinds: Vec<&str> = filter.kinds.iter().map(|kind| kind.name()).collect();
    let (is_about_somebody, is_about_client) = (filter.who.is_some(), filter.client.is_some());
    let of_kind = if is_about_somebody || is_about_client { Vec::new() } else { kinds.clone() };
    let of_client = match (is_about_client && !is_about_somebody, kinds.is_empty()) {
        (false, _) => Vec::new(),
        (true, false) => kinds.clone(),
        (true, true) => EventKind::ALL.iter().map(|kind| kind.name()).collect(),
    };
    let (user, pseudonym, wallet) = match &filter.who {
        Some(Subject::User(EventPerson::User(user))) => (Some(user.as_uuid()), None, None),
        Some(Subject::User(EventPerson::Deleted(pseudonym))) => {
            (None, Some(pseudonym.as_bytes().as_slice()), None)
        }
        Some(Subject::Wallet(wallet)) => (None, None, Some(wallet)),
        None => (None, None, None),
    };
    let (family, address) = (wallet.map(|wallet| &*wallet.family), wallet.map(|wallet| &*wallet.address));
    let client = filter.client.map(|client| client.as_uuid());
    let everything = !is_about_somebody && !is_about_client && kinds.is_empty();
    let kinds = (!kinds.is_empty()).then_some(kinds);
    let asked = |limit| AskedPage {
        user,
        pseudonym,
        family,
        address,
        client,
        kinds: kinds.clone(),
        of_client: of_client.clone(),
        of_kind: of_kind.clone(),
        everything,
        lowest,
        highest,
        limit,
    };
    let mut limit = i64::from(page.limit);
    let most = usize::try_from(page.limit).unwrap_or(usize::MAX);
    loop {
        let asked = asked(limit);
        let rows: Vec<(EventRow, bool)> = match page.order {
            EventOrder::NewestFirst => NewestPage { asked }.load(connection)?,
            EventOrder::OldestFirst => OldestPage { asked }.load(connection)?,
        };
        let is_all = rows.len() < usize::try_from(limit).unwrap_or(usize::MAX);
        let mut events = Vec::new();
        for (row, is_fresh) in rows {
            match row.event(TABLE) {
                Ok(event) => events.push(event),
                // It does not count, so the page reaches as far without it.
                Err(_) if is_fresh => {}
                Err(error) => return Err(error.into()),
            }
        }
        // What is sealed comes first, so of an event and its copy the copy goes.
        events.dedup_by_key(|event| event.id);
        if is_all || events.len() >= most {
            events.truncate(most);
            return Ok(events);
        }
        limit = limit.saturating_mul(2).max(1);
    }
}

pub(crate) fn find_event(connection: &mut PgConnection, id: EventId) -> OpResult<Option<FoundEvent>> {
    let row = FindEvent { id: id.as_uuid() }.get_result::<(EventRow, Option<i64>)>(connection).optional()?;
    let Some((row, position)) = row else { return Ok(None) };
    let event = row.event(TABLE)?;
    let position = position.map(u64::try_from).transpose();
    let at = Row { table: TABLE, key: &event.id };
    Ok(Some(FoundEvent { position: position.map_err(|_| at.impossible("position"))?, event }))
}

pub(crate) fn events_of_request(
    connection: &mut PgConnection,
    request: &str,
    after: Option<EventId>,
    limit: u32,
) -> OpResult<Vec<Event>> {
    // No event has the nil UUID.
    let after = after.map_or(Uuid::nil(), |after| after.as_uuid());
    let rows: Vec<EventRow> = EventsOfRequest { request, after, limit: limit.into() }.load(connection)?;
    events(rows)
}

pub(crate) fn fresh_events(connection: &mut PgConnection, limit: u32) -> OpResult<Vec<Event>> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut events, mut after) = (Vec::new(), None);
    while events.len() < most {
        let page = fresh_page(connection, &mut after)?;
        if page.is_empty() {
            break;
        }
        events.extend(page.into_iter().filter_map(|at| match at {
            FreshAt::Event(event) => Some(*event),
            FreshAt::Unsealable(_) => None,
        }));
    }
    events.truncate(most);
    Ok(events)
}

pub(crate) fn unsealable_events(connection: &mut PgConnection, limit: u32) -> OpResult<Vec<UnsealableEvent>> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut found, mut after) = (Vec::new(), None);
    while found.len() < most {
        let page = fresh_page(connection, &mut after)?;
        if page.is_empty() {
            break;
        }
        found.extend(page.into_iter().filter_map(|at| match at {
            FreshAt::Event(_) => None,
            FreshAt::Unsealable(event) => Some(event),
        }));
    }
    found.truncate(most);
    Ok(found)
}

/// The rows after the last one, which is replaced by the last of these.
fn fresh_page(connection: &mut PgConnection, after: &mut Option<Uuid>) -> OpResult<Vec<FreshAt>> {
    let rows: Vec<(EventRow, bool)> = OldestFresh { after: *after, limit: FRESH_PAGE }.load(connection)?;
    if let Some((last, _)) = rows.last() {
        *after = Some(last.key());
    }
    Ok(rows.into_iter().map(|(row, is_copy)| row.fresh(Ok(()), is_copy)).collect())
}

/// How many fresh events are read at once.
const FRESH_PAGE: i64 = 1_000;

pub(crate) fn last_checkpoint(connection: &mut PgConnection) -> OpResult<Option<SignedCheckpoint>> {
    let row: Option<CheckpointRow<String>> = LastCheckpoint {}.get_result(connection).optional()?;
    Ok(row.map(|row| row.checkpoint(Ok(()))).transpose()?)
}

pub(crate) fn find_checkpoint(
    connection: &mut PgConnection,
    number: u64,
) -> Result<Option<SignedCheckpoint>, SqlError> {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let row: Option<CheckpointRow<String>> = FindCheckpoint { number }.get_result(connection).optional()?;
    row.map(|row| row.checkpoint(Ok(()))).transpose()
}

/// Rows that no `after` leads to are reported at the beginning.
pub(crate) fn checkpoints(
    connection: &mut PgConnection,
    after: u64,
    limit: u32,
) -> OpResult<Vec<CheckpointAt>> {
    let mut found = Vec::new();
    if after == 0 {
        let strays: i64 = StrayCheckpoints { first: FIRST }.get_result(connection)?;
        found.extend((strays > 0).then(|| CheckpointAt::Unreadable {
            number: 0,
            problem: format!("{strays} rows with numbers before the first"),
        }));
    }
    let later = Checkpoints { after: i64::try_from(after).unwrap_or(i64::MAX), limit: limit.into() };
    let rows: Vec<CheckpointRow<String>> = later.load(connection)?;
    found.extend(rows.into_iter().map(|row| row.at(Ok(()))));
    Ok(found)
}

/// Rows that no `after` leads to are reported at the beginning.
pub(crate) fn sealed_events(connection: &mut PgConnection, after: u64, limit: u32) -> OpResult<Vec<EventAt>> {
    let mut found = Vec::new();
    if after == 0 {
        let strays: i64 = StrayEvents { first: FIRST }.get_result(connection)?;
        found.extend((strays > 0).then(|| EventAt::Unreadable {
            position: 0,
            problem: format!("{strays} rows at positions before the first"),
        }));
    }
    let later = SealedEvents { after: i64::try_from(after).unwrap_or(i64::MAX), limit: limit.into() };
    let rows: Vec<SealedRow> = later.load(connection)?;
    found.extend(rows.into_iter().map(|row| row.at(Ok(()))));
    Ok(found)
}

pub(crate) fn count_events_of(connection: &mut PgConnection, pseudonym: Pseudonym) -> OpResult<u64> {
    let deletion = EventKind::AccountDeleted.name();
    let count = CountEventsOf { pseudonym: pseudonym.as_bytes().as_slice(), deletion };
    let events: i64 = count.get_result(connection)?;
    Ok(u64::try_from(events).unwrap_or_default())
}

/// The table that errors name, whichever of the two it was.
const TABLE: &str = "events";

/// The first position, and the number of the first checkpoint.
const FIRST: i64 = 1;

/// The lowest and the highest id of a page. The time of an event is in the first 48 bits of its id.
fn bounds(filter: &EventFilter, page: EventPage) -> Option<(Uuid, Uuid)> {
    let first_of = |time: OffsetDateTime| {
        let millis = time.unix_timestamp_nanos() / 1_000_000;
        u128::try_from(millis).unwrap_or_default() << 80
    };
    let mut lowest = filter.since.map_or(0, first_of);
    let mut highest = match filter.until {
        Some(until) => first_of(until).checked_sub(1)?,
        None => u128::MAX,
    };
    let after = page.after.map(|after| after.as_uuid().as_u128());
    match (after, page.order) {
        (None, _) => {}
        (Some(after), EventOrder::NewestFirst) => highest = highest.min(after.checked_sub(1)?),
        (Some(after), EventOrder::OldestFirst) => lowest = lowest.max(after.checked_add(1)?),
    }
    Some((Uuid::from_u128(lowest), Uuid::from_u128(highest)))
}

fn events(rows: Vec<EventRow>) -> OpResult<Vec<Event>> {
    let events: Result<Vec<_>, _> = rows.into_iter().map(|row| row.event(TABLE)).collect();
    Ok(events?)
}

/// The columns of an event, in the order of [`EventSql`].
macro_rules! columns {
    () => {
        "id, kind, actor, user_id, pseudonym, family, chain, address, client_id, peer, request, details, signed"
    };
}

/// Declares the statement for pages in one order.
///
/// Fresh events are read as they come. Of the sealed ones, each part of the union finds its own by an index,
/// or nothing if it is not asked: events about a person; events of each kind about a client; events of each
/// kind; and all events. So no page reads more than the events about one person, or `limit` for each kind.
///
/// Rows are compared with all columns of the index, and sorted by all of them, so that the planner cannot go
/// through all events in the order of their ids until it has found enough.
macro_rules! page {
    ($(#[$doc:meta])* $name:ident, $order:literal) => {
        statement! {
            $(#[$doc])*
            $name<'a> {
                ..asked: AskedPage<'a>,
            } -> (EventSql, Bool) = concat!(
                "SELECT ", columns!(), ", is_fresh FROM ( \
                  (SELECT ", columns!(), ", TRUE AS is_fresh FROM fresh_events \
                    WHERE id BETWEEN :asked.lowest AND :asked.highest \
                      AND (:asked.user IS NULL OR user_id = :asked.user) \
                      AND (:asked.pseudonym IS NULL OR pseudonym = :asked.pseudonym) \
                      AND (:asked.address IS NULL OR (address = :asked.address AND family = :asked.family \
                        AND user_id IS NULL AND pseudonym IS NULL)) \
                      AND (:asked.client IS NULL OR client_id = :asked.client) \
                      AND (:asked.kinds IS NULL OR kind = ANY(:asked.kinds)) \
                    ORDER BY id ", $order, " LIMIT :asked.limit) \
                  UNION ALL \
                  (SELECT ", columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (user_id, id) >= (:asked.user, :asked.lowest) \
                      AND (user_id, id) <= (:asked.user, :asked.highest) \
                      AND user_id IS NOT NULL \
                      AND (:asked.client IS NULL OR client_id = :asked.client) \
                      AND (:asked.kinds IS NULL OR kind = ANY(:asked.kinds)) \
                    ORDER BY user_id ", $order, ", id ", $order, " LIMIT :asked.limit) \
                  UNION ALL \
                  (SELECT ", columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (pseudonym, id) >= (:asked.pseudonym, :asked.lowest) \
                      AND (pseudonym, id) <= (:asked.pseudonym, :asked.highest) \
                      AND pseudonym IS NOT NULL \
                      AND (:asked.client IS NULL OR client_id = :asked.client) \
                      AND (:asked.kinds IS NULL OR kind = ANY(:asked.kinds)) \
                    ORDER BY pseudonym ", $order, ", id ", $order, " LIMIT :asked.limit) \
                  UNION ALL \
                  (SELECT ", columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (address, family, id) >= (:asked.address, :asked.family, :asked.lowest) \
                      AND (address, family, id) <= (:asked.address, :asked.family, :asked.highest) \
                      AND address IS NOT NULL AND user_id IS NULL AND pseudonym IS NULL \
                      AND (:asked.client IS NULL OR client_id = :asked.client) \
                      AND (:asked.kinds IS NULL OR kind = ANY(:asked.kinds)) \
                    ORDER BY address ", $order, ", family ", $order, ", id ", $order, " LIMIT :asked.limit) \
                  UNION ALL \
                  (SELECT of_client.* FROM unnest(:asked.of_client) AS wanted (word) CROSS JOIN LATERAL ( \
                    SELECT ", columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (client_id, kind, id) >= (:asked.client, wanted.word, :asked.lowest) \
                      AND (client_id, kind, id) <= (:asked.client, wanted.word, :asked.highest) \
                      AND client_id IS NOT NULL \
                    ORDER BY client_id ", $order, ", kind ", $order, ", id ", $order, " LIMIT :asked.limit) AS of_client) \
                  UNION ALL \
                  (SELECT of_kind.* FROM unnest(:asked.of_kind) AS wanted (word) CROSS JOIN LATERAL ( \
                    SELECT ", columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (kind, id) >= (wanted.word, :asked.lowest) \
                      AND (kind, id) <= (wanted.word, :asked.highest) \
                    ORDER BY kind ", $order, ", id ", $order, " LIMIT :asked.limit) AS of_kind) \
                  UNION ALL \
                  (SELECT ", columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE :asked.everything AND id BETWEEN :asked.lowest AND :asked.highest \
                    ORDER BY id ", $order, " LIMIT :asked.limit) \
                ) AS page ORDER BY id ", $order, ", is_fresh LIMIT :asked.limit"
            )
        }
    };
}

page! { NewestPage, "DESC" }

page! { OldestPage, "ASC" }

statement! {
    FindEvent { id: Uuid as SqlUuid } -> (EventSql, Nullable<BigInt>) = concat!(
        "SELECT ", columns!(), ", NULL AS position FROM fresh_events WHERE id = :id \
        UNION ALL SELECT ", columns!(), ", position FROM events WHERE id = :id LIMIT 1"
    )
}

statement! {
    /// Fresh events come from all of them: they are few, and sign-ins do not pay for an index. Sealed ones are
    /// sorted by all columns of the index, so that the planner does not go by their ids.
    EventsOfRequest<'a> {
        request: &'a str as Text,
        after: Uuid as SqlUuid,
        limit: i64 as BigInt,
    } -> EventSql = concat!(
        "SELECT ", columns!(), " FROM ( \
          (SELECT ", columns!(), " FROM fresh_events WHERE request = :request AND id > :after ORDER BY id LIMIT :limit) \
          UNION ALL \
          (SELECT ", columns!(), " FROM events WHERE (request, id) > (:request, :after) \
            AND (request, id) <= (:request, UUID 'ffffffff-ffff-ffff-ffff-ffffffffffff') \
            AND request IS NOT NULL ORDER BY request, id LIMIT :limit) \
        ) AS named ORDER BY id LIMIT :limit"
    )
}

statement! {
    OldestFresh { after: Option<Uuid> as Nullable<SqlUuid>, limit: i64 as BigInt } -> (EventSql, Bool) = concat!(
        "SELECT ", columns!(), ", EXISTS (SELECT FROM events WHERE events.id = fresh_events.id) \
        FROM fresh_events WHERE :after IS NULL OR id > :after ORDER BY id LIMIT :limit"
    )
}

/// The SQL types of a [`CheckpointRow`]. Any but the number can be absent in a database that was tampered with.
type CheckpointSql = (
    BigInt,
    Nullable<Moment>,
    Nullable<BigInt>,
    Nullable<Small>,
    Nullable<Binary>,
    Nullable<Binary>,
    Nullable<BigInt>,
    Nullable<Text>,
);

/// The columns of a checkpoint, in the order of [`CheckpointSql`]. A time that we cannot represent is absent.
macro_rules! checkpoint_columns {
    () => {
        "number, CASE WHEN sealed_at >= '0001-01-01Z' AND sealed_at < '9999-01-01Z' THEN sealed_at END, \
        first_position, events, root, previous, kept_from, jws"
    };
}

statement! {
    LastCheckpoint {} -> CheckpointSql = concat!(
        "SELECT ", checkpoint_columns!(), " FROM checkpoints ORDER BY number DESC LIMIT 1"
    )
}

statement! {
    FindCheckpoint { number: i64 as BigInt } -> CheckpointSql = concat!(
        "SELECT ", checkpoint_columns!(), " FROM checkpoints WHERE number = :number"
    )
}

statement! {
    Checkpoints { after: i64 as BigInt, limit: i64 as BigInt } -> CheckpointSql = concat!(
        "SELECT ", checkpoint_columns!(), " FROM checkpoints WHERE number > :after ORDER BY number LIMIT :limit"
    )
}

statement! {
    StrayCheckpoints { first: i64 as BigInt } -> BigInt = "SELECT count(*) FROM checkpoints WHERE number < :first"
}

statement! {
    SealedEvents { after: i64 as BigInt, limit: i64 as BigInt } -> SealedSql = concat!(
        "SELECT position, ", columns!(), ", salt, commitment, hiding_proof FROM events \
        WHERE position > :after ORDER BY position LIMIT :limit"
    )
}

statement! {
    StrayEvents { first: i64 as BigInt } -> BigInt = "SELECT count(*) FROM events WHERE position < :first"
}

statement! {
    CountEventsOf<'a> { pseudonym: &'a [u8] as Binary, deletion: &'a str as Text } -> BigInt = "\
        SELECT (SELECT count(*) FROM fresh_events WHERE pseudonym = :pseudonym AND kind <> :deletion) \
          + (SELECT count(*) FROM events WHERE pseudonym = :pseudonym AND kind <> :deletion)"
}
