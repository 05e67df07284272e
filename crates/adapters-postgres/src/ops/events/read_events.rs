//! Pages of events. Each is one statement and so sees one state of the database, however many events are being sealed.

use countersign_domain::event::{Event, EventKind, EventPerson};
use countersign_domain::subject::Subject;
use countersign_ports::{EventFilter, EventOrder, EventPage};
use countersign_sql::rows::event::{EventRow, EventSql, event_columns};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Nullable, Text, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::{row, statement};

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

/// The table that errors name, whichever of the two it was.
const TABLE: &str = "events";

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

row! {
    /// What a page of events has, for the statements that read one.
    AskedPage<'a> {
        user: Option<Uuid> as Nullable<SqlUuid>,
        pseudonym: Option<&'a [u8]> as Nullable<Binary>,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
        client: Option<Uuid> as Nullable<SqlUuid>,
        kinds: Option<Vec<&'a str>> as Nullable<Array<Text>>,
        /// The kinds to find by the index of clients, if that is the index to use.
        of_client: Vec<&'a str> as Array<Text>,
        /// The kinds to find by the index of kinds, if that is the index to use.
        of_kind: Vec<&'a str> as Array<Text>,
        /// Whether all events are to be read in their order.
        everything: bool as Bool,
        lowest: Uuid as SqlUuid,
        highest: Uuid as SqlUuid,
        limit: i64 as BigInt,
    }
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
                "SELECT ", event_columns!(), ", is_fresh FROM ( \
                  (SELECT ", event_columns!(), ", TRUE AS is_fresh FROM fresh_events \
                    WHERE id BETWEEN :asked.lowest AND :asked.highest \
                      AND (:asked.user IS NULL OR user_id = :asked.user) \
                      AND (:asked.pseudonym IS NULL OR pseudonym = :asked.pseudonym) \
                      AND (:asked.address IS NULL OR (address = :asked.address AND family = :asked.family \
                        AND user_id IS NULL AND pseudonym IS NULL)) \
                      AND (:asked.client IS NULL OR client_id = :asked.client) \
                      AND (:asked.kinds IS NULL OR kind = ANY(:asked.kinds)) \
                    ORDER BY id ", $order, " LIMIT :asked.limit) \
                  UNION ALL \
                  (SELECT ", event_columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (user_id, id) >= (:asked.user, :asked.lowest) \
                      AND (user_id, id) <= (:asked.user, :asked.highest) \
                      AND user_id IS NOT NULL \
                      AND (:asked.client IS NULL OR client_id = :asked.client) \
                      AND (:asked.kinds IS NULL OR kind = ANY(:asked.kinds)) \
                    ORDER BY user_id ", $order, ", id ", $order, " LIMIT :asked.limit) \
                  UNION ALL \
                  (SELECT ", event_columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (pseudonym, id) >= (:asked.pseudonym, :asked.lowest) \
                      AND (pseudonym, id) <= (:asked.pseudonym, :asked.highest) \
                      AND pseudonym IS NOT NULL \
                      AND (:asked.client IS NULL OR client_id = :asked.client) \
                      AND (:asked.kinds IS NULL OR kind = ANY(:asked.kinds)) \
                    ORDER BY pseudonym ", $order, ", id ", $order, " LIMIT :asked.limit) \
                  UNION ALL \
                  (SELECT ", event_columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (address, family, id) >= (:asked.address, :asked.family, :asked.lowest) \
                      AND (address, family, id) <= (:asked.address, :asked.family, :asked.highest) \
                      AND address IS NOT NULL AND user_id IS NULL AND pseudonym IS NULL \
                      AND (:asked.client IS NULL OR client_id = :asked.client) \
                      AND (:asked.kinds IS NULL OR kind = ANY(:asked.kinds)) \
                    ORDER BY address ", $order, ", family ", $order, ", id ", $order, " LIMIT :asked.limit) \
                  UNION ALL \
                  (SELECT of_client.* FROM unnest(:asked.of_client) AS wanted (word) CROSS JOIN LATERAL ( \
                    SELECT ", event_columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (client_id, kind, id) >= (:asked.client, wanted.word, :asked.lowest) \
                      AND (client_id, kind, id) <= (:asked.client, wanted.word, :asked.highest) \
                      AND client_id IS NOT NULL \
                    ORDER BY client_id ", $order, ", kind ", $order, ", id ", $order, " LIMIT :asked.limit) AS of_client) \
                  UNION ALL \
                  (SELECT of_kind.* FROM unnest(:asked.of_kind) AS wanted (word) CROSS JOIN LATERAL ( \
                    SELECT ", event_columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE (kind, id) >= (wanted.word, :asked.lowest) \
                      AND (kind, id) <= (wanted.word, :asked.highest) \
                    ORDER BY kind ", $order, ", id ", $order, " LIMIT :asked.limit) AS of_kind) \
                  UNION ALL \
                  (SELECT ", event_columns!(), ", FALSE AS is_fresh FROM events \
                    WHERE :asked.everything AND id BETWEEN :asked.lowest AND :asked.highest \
                    ORDER BY id ", $order, " LIMIT :asked.limit) \
                ) AS page ORDER BY id ", $order, ", is_fresh LIMIT :asked.limit"
            )
        }
    };
}

page! { NewestPage, "DESC" }

page! { OldestPage, "ASC" }
