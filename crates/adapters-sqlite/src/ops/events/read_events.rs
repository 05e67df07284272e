//! Pages of events.
//!
//! Pages by client or by kind take so many rows of each kind that was asked for, from an index with the kind in it,
//! and pages of everything go by id. So they take no longer among many events. Pages by person or wallet go
//! through the events of that one.

use countersign_domain::event::{Event, EventKind, EventPerson};
use countersign_domain::subject::Subject;
use countersign_ports::{EventFilter, EventOrder, EventPage};
use countersign_sql::rows::event::{EventRow, EventSql, event_columns};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use time::OffsetDateTime;

use crate::error::SqliteError;
use crate::statement::{row, statement};

/// Several statements that see one state of the database: the one that the first of them saw. An event that is
/// sealed meanwhile is neither left out nor shown twice.
pub(crate) fn list_events(
    connection: &mut SqliteConnection,
    filter: &EventFilter,
    page: EventPage,
) -> Result<Vec<Event>, SqliteError> {
    let (after, before) = bounds(filter, page);
    let (user, pseudonym, wallet) = match &filter.who {
        None => (None, None, None),
        Some(Subject::User(EventPerson::User(user))) => (Some(user.as_uuid().into_bytes()), None, None),
        Some(Subject::User(EventPerson::Deleted(pseudonym))) => {
            (None, Some(pseudonym.as_bytes().as_slice()), None)
        }
        Some(Subject::Wallet(wallet)) => (None, None, Some(wallet)),
    };
    let kinds = spaced(&filter.kinds);
    let within = |kind| Within {
        after: &after,
        before: &before,
        kinds: &kinds,
        kind,
        user,
        pseudonym,
        family: wallet.map(|wallet| &*wallet.family),
        address: wallet.map(|wallet| &*wallet.address),
        client: filter.client.map(|client| client.as_uuid().into_bytes()),
        limit: page.limit.into(),
    };
    let of_each = |connection: &mut SqliteConnection, kinds: &[EventKind], load: LoadPage| {
        let pages = kinds.iter().map(|kind| load(connection, page.order, within(kind.name())));
        pages.collect::<QueryResult<Vec<_>>>().map(|pages| pages.into_iter().flatten().collect())
    };
    connection.transaction(|connection| {
        let fresh = readable_of_fresh(connection, page, within)?;
        let sealed: Vec<EventRow> = match (&filter.who, filter.client, filter.kinds.as_slice()) {
            (Some(Subject::User(EventPerson::User(_))), _, _) => {
                page_of_user(connection, page.order, within(""))?
            }
            (Some(Subject::User(EventPerson::Deleted(_))), _, _) => {
                page_of_deleted(connection, page.order, within(""))?
            }
            (Some(Subject::Wallet(_)), _, _) => page_of_wallet(connection, page.order, within(""))?,
            (None, Some(_), []) => of_each(connection, EventKind::ALL, page_of_client)?,
            (None, Some(_), kinds) => of_each(connection, kinds, page_of_client)?,
            (None, None, []) => page_of_all(connection, page.order, within(""))?,
            (None, None, kinds) => of_each(connection, kinds, page_of_kind)?,
        };
        let mut events = sealed.into_iter().map(|row| row.event("events")).collect::<Result<Vec<_>, _>>()?;
        // What is sealed comes first, so of an event and its copy the copy goes.
        events.extend(fresh);
        events.sort_by(|one, other| match page.order {
            EventOrder::OldestFirst => one.id.cmp(&other.id),
            EventOrder::NewestFirst => other.id.cmp(&one.id),
        });
        // A kind that was asked for twice, or a copy.
        events.dedup_by_key(|event| event.id);
        events.truncate(usize::try_from(page.limit).unwrap_or(usize::MAX));
        Ok(events)
    })
}

/// The fresh events of a page that can be read. Others do not count, so the page reaches as far without them.
fn readable_of_fresh<'a>(
    connection: &mut SqliteConnection,
    page: EventPage,
    within: impl Fn(&'a str) -> Within<'a>,
) -> Result<Vec<Event>, SqliteError> {
    let most = i64::from(page.limit);
    let mut limit = most;
    loop {
        let rows = page_of_fresh(connection, page.order, Within { limit, ..within("") })?;
        let is_all = rows.len() < usize::try_from(limit).unwrap_or(usize::MAX);
        let events: Vec<_> = rows.into_iter().filter_map(|row| row.event("fresh_events").ok()).collect();
        if is_all || events.len() >= usize::try_from(most).unwrap_or(usize::MAX) {
            return Ok(events);
        }
        limit = limit.saturating_mul(2).max(1);
    }
}

/// The ids between which the events of a page lie, without these two. The time of an event is the first 48 bits of
/// its id. Every id sorts after the empty one, and before one that is longer than an id and has only ones.
fn bounds(filter: &EventFilter, page: EventPage) -> (Vec<u8>, Vec<u8>) {
    let since = filter.since.and_then(|since| first_id_at(since).checked_sub(1));
    let until = filter.until.map(first_id_at);
    let cursor = page.after.map(|after| after.as_uuid().into_bytes().to_vec());
    let bytes = |id: u128| id.to_be_bytes().to_vec();
    let (mut after, mut before) = (since.map(bytes).unwrap_or_default(), vec![u8::MAX; 17]);
    before = until.map(bytes).map_or(before.clone(), |until| until.min(before));
    match (cursor, page.order) {
        (None, _) => {}
        (Some(cursor), EventOrder::OldestFirst) => after = after.max(cursor),
        (Some(cursor), EventOrder::NewestFirst) => before = before.min(cursor),
    }
    (after, before)
}

/// The smallest id of an event at this time or later.
fn first_id_at(time: OffsetDateTime) -> u128 {
    let millis = (time.unix_timestamp_nanos() + 999_999).div_euclid(1_000_000);
    u128::try_from(millis).unwrap_or(0) << 80
}

/// The names with a space around each, or nothing if there are none.
fn spaced(kinds: &[EventKind]) -> String {
    if kinds.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    format!(" {} ", names.join(" "))
}

/// Loads a page by one of the statements below.
type LoadPage = fn(&mut SqliteConnection, EventOrder, Within<'_>) -> QueryResult<Vec<EventRow>>;

row! {
    /// What a page can ask for. `kind` is the one kind of those statements that go by kind.
    pub(crate) Within<'a> {
        after: &'a [u8] as Binary,
        before: &'a [u8] as Binary,
        kinds: &'a str as Text,
        kind: &'a str as Text,
        user: Option<[u8; 16]> as Nullable<Binary>,
        pseudonym: Option<&'a [u8]> as Nullable<Binary>,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
        client: Option<[u8; 16]> as Nullable<Binary>,
        limit: i64 as BigInt,
    }
}

/// Declares the statements of a page, one for each order: from which table by which index, and which rows the
/// index finds.
macro_rules! page {
    ($(#[$doc:meta])* $load:ident: $newest:ident, $oldest:ident = $from:literal, $found:literal) => {
        page! { @statement $newest = $from, $found, " DESC" }
        page! { @statement $oldest = $from, $found, "" }

        $(#[$doc])*
        fn $load(
            connection: &mut SqliteConnection,
            order: EventOrder,
            within: Within<'_>,
        ) -> QueryResult<Vec<EventRow>> {
            match order {
                EventOrder::NewestFirst => $newest { within }.load(connection),
                EventOrder::OldestFirst => $oldest { within }.load(connection),
            }
        }
    };
    (@statement $name:ident = $from:literal, $found:literal, $order:literal) => {
        statement! {
            $name<'a> {
                ..within: Within<'a>,
            } -> EventSql = concat!(
                "SELECT ", event_columns!(), " FROM ", $from,
                " WHERE id > :within.after AND id < :within.before AND ", $found,
                " AND (:within.kinds = '' OR instr(:within.kinds, ' ' || kind || ' ') > 0) \
                AND (:within.client IS NULL OR client_id = :within.client) \
                ORDER BY id", $order, " LIMIT :within.limit"
            )
        }
    };
}

page! {
    /// Reads all fresh events: they are few, and sign-ins do not pay for an index.
    page_of_fresh: NewestOfFresh, OldestOfFresh = "fresh_events", "(:within.user IS NULL OR user_id = :within.user) \
        AND (:within.pseudonym IS NULL OR pseudonym = :within.pseudonym) \
        AND (:within.address IS NULL OR (address = :within.address AND family = :within.family \
        AND user_id IS NULL AND pseudonym IS NULL))"
}
page! { page_of_all: NewestOfAll, OldestOfAll = "events", "TRUE" }
page! { page_of_kind: NewestOfKind, OldestOfKind = "events INDEXED BY events_by_kind", "kind = :within.kind" }
page! {
    page_of_client: NewestOfClient, OldestOfClient = "events INDEXED BY events_by_client",
    "client_id = :within.client AND kind = :within.kind"
}
page! { page_of_user: NewestOfUser, OldestOfUser = "events INDEXED BY events_by_user", "user_id = :within.user" }
page! {
    page_of_deleted: NewestOfDeleted, OldestOfDeleted = "events INDEXED BY events_by_pseudonym",
    "pseudonym = :within.pseudonym"
}
page! {
    page_of_wallet: NewestOfWallet, OldestOfWallet = "events INDEXED BY events_by_wallet",
    "address = :within.address AND family = :within.family AND user_id IS NULL AND pseudonym IS NULL"
}

#[cfg(test)]
mod tests {
    use countersign_domain::event::Pseudonym;
    use countersign_domain::id::{EventId, UserId};
    use time::Duration;

    use super::*;
    use crate::statement::plan::{database, steps};

    fn within<'a>() -> Within<'a> {
        Within {
            after: &[],
            before: &[255; 17],
            kinds: "",
            kind: "sign_in",
            user: None,
            pseudonym: None,
            family: None,
            address: None,
            client: None,
            limit: 10,
        }
    }

    /// No row is read that is not in the page, or at least by the same person, and none is sorted.
    #[test]
    fn a_page_of_events_takes_no_longer_among_many() {
        let (_folder, mut connection) = database();
        macro_rules! goes_by {
            ($index:literal: $($statement:ident),*) => { $(
                let taken = steps(&mut connection, $statement { within: within() });
                let expected = format!("SEARCH events USING INDEX {}", $index);
                assert!(matches!(taken.as_slice(), [only] if only.starts_with(&expected)), "{taken:#?}");
            )* };
        }
        goes_by!("sqlite_autoindex_events_1 (id>? AND id<?)": NewestOfAll, OldestOfAll);
        goes_by!("events_by_kind (kind=? AND id>? AND id<?)": NewestOfKind, OldestOfKind);
        goes_by!("events_by_client (client_id=? AND kind=? AND id>? AND id<?)": NewestOfClient, OldestOfClient);
        goes_by!("events_by_user (user_id=? AND id>? AND id<?)": NewestOfUser, OldestOfUser);
        goes_by!("events_by_pseudonym (pseudonym=? AND id>? AND id<?)": NewestOfDeleted, OldestOfDeleted);
        goes_by!("events_by_wallet (address=? AND family=? AND id>? AND id<?)": NewestOfWallet, OldestOfWallet);
    }

    #[test]
    fn a_page_begins_and_ends_with_the_milliseconds_of_its_times() {
        let at = |millis: i64, last: u8| {
            EventId::at(OffsetDateTime::UNIX_EPOCH + Duration::milliseconds(millis), [last; 10])
        };
        let time = |micros| Some(OffsetDateTime::UNIX_EPOCH + Duration::microseconds(micros));
        let page = |order, after| EventPage { order, after, limit: 1 };
        let is_in = |since, until, page: EventPage, id: EventId| {
            let filter = EventFilter { since, until, ..EventFilter::default() };
            let (after, before) = bounds(&filter, page);
            let id = id.as_uuid().into_bytes();
            after.as_slice() < id.as_slice() && id.as_slice() < before.as_slice()
        };
        let oldest = |after| page(EventOrder::OldestFirst, after);
        let newest = |after| page(EventOrder::NewestFirst, after);
        let nil = EventId::from_uuid(uuid::Uuid::nil());
        let max = EventId::from_uuid(uuid::Uuid::max());
        for (since, until, page, id, expected) in [
            (None, None, oldest(None), nil, true),
            (None, None, oldest(None), max, true),
            (time(0), None, oldest(None), nil, true),
            (time(-1), None, oldest(None), nil, true),
            (None, time(0), oldest(None), nil, false),
            (None, time(-5_000_000), oldest(None), nil, false),
            (time(5_000), None, oldest(None), at(5, 0), true),
            (time(5_000), None, oldest(None), at(4, 255), false),
            (time(5_001), None, oldest(None), at(5, 255), false),
            (None, time(5_000), oldest(None), at(4, 255), true),
            (None, time(5_000), oldest(None), at(5, 0), false),
            (None, time(5_001), oldest(None), at(5, 255), true),
            (time(5_000), None, oldest(Some(at(4, 0))), at(4, 255), false),
            (time(5_000), None, oldest(Some(at(6, 0))), at(6, 0), false),
            (time(5_000), None, oldest(Some(at(6, 0))), at(6, 1), true),
            (None, time(5_000), newest(Some(at(6, 0))), at(5, 0), false),
            (None, time(5_000), newest(Some(at(3, 0))), at(3, 0), false),
            (None, time(5_000), newest(Some(at(3, 0))), at(2, 255), true),
        ] {
            assert_eq!(is_in(since, until, page, id), expected, "{since:?} {until:?} {page:?} {id}");
        }
    }

    #[test]
    fn a_page_of_every_subject_can_be_asked_for() {
        let (_folder, mut connection) = database();
        let user = UserId::from_uuid(uuid::Uuid::nil());
        let wallet = countersign_domain::wallet::WalletAccount {
            family: "eip155".to_owned(),
            chain: "eip155:1".to_owned(),
            address: "0xab".to_owned(),
        };
        let subjects = [
            None,
            Some(Subject::User(EventPerson::User(user))),
            Some(Subject::Wallet(wallet)),
            Some(Subject::User(EventPerson::Deleted(Pseudonym::new([0; 16])))),
        ];
        for who in subjects {
            for kinds in [Vec::new(), EventKind::ALL.to_vec()] {
                for client in [None, Some(countersign_domain::id::ClientId::from_uuid(uuid::Uuid::nil()))] {
                    let filter = EventFilter {
                        who: who.clone(),
                        kinds: kinds.clone(),
                        client,
                        ..EventFilter::default()
                    };
                    for order in [EventOrder::NewestFirst, EventOrder::OldestFirst] {
                        let page = EventPage { order, after: None, limit: 10 };
                        assert_eq!(list_events(&mut connection, &filter, page).unwrap(), []);
                    }
                }
            }
        }
    }
}
