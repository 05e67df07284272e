//! Events: what their statements leave, how many rows they read, and rows that somebody tampered with.

use std::time::Instant;

use countersign_conformance::fixtures;
use countersign_domain::checkpoint::{Checkpoint, Digest256, Salt, SealedEvent, SignedCheckpoint};
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Pseudonym};
use countersign_domain::id::{ClientId, EventId, UserId};
use countersign_domain::peer_address::PeerAddress;
use countersign_domain::subject::Subject;
use countersign_ports::{
    CheckpointAt, CompleteLogin, DeleteAccount, EventAt, EventFilter, EventOrder, EventPage, ForgetEvents,
    ForgetEventsOf, Recent, RegisterClient, RevokeGrant, RevokeToken, SealEvents, Sealed, TakeLease,
};
use countersign_sql::columns::WalletKeys;
use countersign_sql::ops::accounts::delete_account::delete_account;
use countersign_sql::ops::events::forget_person::{forget_events_of, forget_person, left_to_forget};
use countersign_sql::ops::events::record_event::record_event;
use countersign_sql::ops::upkeep::leases::take_lease;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_query;
use time::Duration;

use super::accounts::{lingering, signed_in, step};
use super::people::reads;
use super::{count, migrated};
use crate::batched::Batched;
use crate::ops::events::seal_events::seal_events;
use crate::ops::find_session;
use crate::ops::sign_in::complete_login::complete_login;
use crate::ops::sign_in::continue_session::continue_session;
use crate::ops::sign_in::open_session::open_session;
use crate::ops::upkeep::forget_events::forget_events;
use crate::ops::{
    checkpoints, count_events_of, events_of_request, find_event, fresh_events, last_checkpoint, list_events,
    sealed_events, unsealable_events,
};

fn event(kind: EventKind) -> Event {
    Event {
        id: EventId::from_uuid(fixtures::grant_id().as_uuid()),
        kind,
        actor: Actor::Person,
        person: None,
        wallet: Some(fixtures::wallet_account()),
        client: Some(fixtures::client_id()),
        address: Some(PeerAddress::network([203, 0, 113, 77].into())),
        request: Some("0123456789abcdef".to_owned()),
        details: Details::default().flag("session", true),
        signed: Some(fixtures::signed()),
    }
}

fn boxed(kind: EventKind) -> Option<Box<Event>> {
    Some(Box::new(event(kind)))
}

/// What seals all fresh events, up to `limit`.
fn seal(connection: &mut PgConnection, limit: u32) -> SealEvents {
    let last = last_checkpoint(connection).unwrap();
    let (number, first) =
        last.as_ref().map_or((1, 1), |last| (last.checkpoint.number + 1, last.checkpoint.next()));
    let fresh = fresh_events(connection, limit).unwrap();
    let events: Vec<SealedEvent> = (first..)
        .zip(fresh)
        .map(|(position, event)| SealedEvent::seal(position, event, Salt::new([7; 16])))
        .collect();
    let checkpoint = Checkpoint {
        number,
        sealed_at: fixtures::NOW,
        first,
        events: events.len().try_into().unwrap(),
        root: Digest256::new([1; 32]),
        previous: last.map_or(Digest256::NOTHING, |last| last.hash()),
        kept_from: 1,
    };
    SealEvents {
        checkpoint: SignedCheckpoint { checkpoint, jws: format!("jws {number}") },
        events,
        counts: Vec::new(),
    }
}

fn page(order: EventOrder, limit: u32) -> EventPage {
    EventPage { order, after: None, limit }
}

/// Each once, with outcomes of every kind, with or without optional values.
pub(super) fn every_operation_on_events(connection: &mut PgConnection, with_options: bool) {
    let login = CompleteLogin { event: boxed(EventKind::SignIn), ..fixtures::remembered_login() };
    complete_login(connection, &login).unwrap();
    let mut open = fixtures::open_session_of(login.account.clone());
    open.event = boxed(EventKind::SignIn);
    open_session(connection, &open).unwrap();
    let session = find_session(connection, open.session.id).unwrap().unwrap();
    let mut proceed = fixtures::continue_session(&session, login.client);
    proceed.login.event = boxed(EventKind::SignInContinued);
    continue_session(connection, &proceed).unwrap();
    let client = RegisterClient { event: boxed(EventKind::ClientRegistered), ..fixtures::register_client() };
    RegisterClient::together(connection, &[client]).unwrap();
    let login = CompleteLogin { event: boxed(EventKind::SignIn), ..fixtures::remembered_login() };
    let redeem = fixtures::redeem_code(login.id);
    CompleteLogin::together(connection, std::slice::from_ref(&login)).unwrap();
    redeem.alone(connection).unwrap();
    let token =
        RevokeToken { event: boxed(EventKind::GrantRevoked), ..fixtures::revoke_token(&redeem.token) };
    RevokeToken::together(connection, &[token]).unwrap();
    let grant = RevokeGrant { event: boxed(EventKind::GrantRevoked), ..fixtures::revoke_grant(login.id) };
    RevokeGrant::together(connection, &[grant]).unwrap();

    let mut recorded = event(EventKind::Upgraded);
    if !with_options {
        recorded =
            Event { wallet: None, client: None, address: None, request: None, signed: None, ..recorded };
    }
    assert!(record_event(connection, &recorded).unwrap());
    assert!(!record_event(connection, &recorded).unwrap());
    let filters = [
        EventFilter::default(),
        EventFilter {
            since: Some(fixtures::NOW),
            until: Some(fixtures::NOW),
            kinds: vec![EventKind::SignIn],
            who: Some(Subject::User(EventPerson::User(login.new_user))),
            client: Some(login.client),
        },
    ];
    for filter in &filters {
        for order in [EventOrder::NewestFirst, EventOrder::OldestFirst] {
            list_events(connection, filter, page(order, 10)).unwrap();
        }
    }
    find_event(connection, recorded.id).unwrap().unwrap();
    events_of_request(connection, "0123456789abcdef", None, 10).unwrap();
    checkpoints(connection, 0, 10).unwrap();
    sealed_events(connection, 0, 10).unwrap();
    let command = seal(connection, 100);
    assert_eq!(seal_events(connection, &command).unwrap(), Sealed::Sealed);
    assert_eq!(seal_events(connection, &command).unwrap(), Sealed::Sealed);
    let pseudonym = Pseudonym::new([1; 16]);
    let (user, hiding) = (login.new_user, fixtures::RECORD_KEY.hiding(pseudonym));
    let deletion = DeleteAccount { pseudonym, hiding: hiding.clone(), ..fixtures::delete_account(user) };
    let wallet = &login.account;
    let wallets = WalletKeys(vec![(wallet.family.clone(), wallet.address.clone())]);
    forget_person(connection, &deletion, &wallets).unwrap();
    let row = format!(
        "INSERT INTO left_to_forget VALUES ('{user}', '\\x{}', '\\x{}')",
        "01".repeat(16),
        "00".repeat(32)
    );
    connection.batch_execute(&row).unwrap();
    assert_eq!(left_to_forget(connection, 10).unwrap().len(), 1);
    assert!(forget_events_of(connection, &ForgetEventsOf { user, pseudonym, hiding }).unwrap());
    count_events_of(connection, Pseudonym::new([1; 16])).unwrap();
    let before = command.checkpoint.checkpoint.next();
    forget_events(connection, &ForgetEvents { before, checkpoints: 2 }).unwrap();
    let lease = TakeLease {
        name: "events",
        holder: [1; 16],
        now: fixtures::NOW,
        until: fixtures::NOW + Duration::seconds(9),
    };
    assert!(take_lease(connection, &lease).unwrap());
    assert!(!take_lease(connection, &TakeLease { holder: [2; 16], ..lease }).unwrap());
}

#[test]
fn of_logins_in_one_batch_each_has_its_own_event_or_none() {
    let (_, mut connection) = migrated();
    let spent = fixtures::complete_login();
    complete_login(&mut connection, &spent).unwrap();
    let somebody = EventPerson::User(fixtures::user_id());
    let mut logins = [
        fixtures::complete_login(),
        CompleteLogin { event: boxed(EventKind::SignIn), ..fixtures::complete_login() },
        CompleteLogin { event: boxed(EventKind::SignIn), ..fixtures::complete_login() },
        CompleteLogin {
            event: boxed(EventKind::SignIn),
            ..fixtures::complete_login_of(spent.account.clone())
        },
        CompleteLogin { event: boxed(EventKind::SignIn), id: spent.id, ..fixtures::complete_login() },
    ];
    logins[2].event.as_mut().unwrap().person = Some(somebody);
    for is_first in [true, false] {
        let outcomes = CompleteLogin::together(&mut connection, &logins).unwrap();
        let carried_out: Vec<bool> = outcomes.iter().map(Option::is_some).collect();
        assert_eq!(carried_out, [is_first, is_first, is_first, is_first, false]);
        let expected = [
            Event {
                person: Some(EventPerson::User(logins[1].new_user)),
                ..*logins[1].event.clone().unwrap()
            },
            *logins[2].event.clone().unwrap(),
            Event { person: Some(EventPerson::User(spent.new_user)), ..*logins[3].event.clone().unwrap() },
        ];
        let stored = fresh_events(&mut connection, 10).unwrap();
        assert_eq!(stored.len(), expected.len());
        assert!(expected.iter().all(|event| stored.contains(event)), "{stored:?}");
    }
}

#[test]
fn of_batches_of_every_kind_only_what_was_carried_out_leaves_events() {
    let (_, mut connection) = migrated();
    let registered =
        RegisterClient { event: boxed(EventKind::ClientRegistered), ..fixtures::register_client() };
    let silent = fixtures::register_client();
    let login = fixtures::complete_login();
    let redeem = fixtures::redeem_code(login.id);
    complete_login(&mut connection, &login).unwrap();
    redeem.alone(&mut connection).unwrap();
    let token =
        RevokeToken { event: boxed(EventKind::GrantRevoked), ..fixtures::revoke_token(&redeem.token) };
    let unknown =
        RevokeToken { id: fixtures::token_id(), event: boxed(EventKind::GrantRevoked), ..token.clone() };
    let grant = RevokeGrant { event: boxed(EventKind::GrantRevoked), ..fixtures::revoke_grant(login.id) };
    let nothing =
        RevokeGrant { id: fixtures::grant_id(), event: boxed(EventKind::GrantRevoked), ..grant.clone() };
    for _ in 0..2 {
        RegisterClient::together(&mut connection, &[registered.clone(), silent.clone()]).unwrap();
        RevokeToken::together(&mut connection, &[token.clone(), unknown.clone()]).unwrap();
        RevokeGrant::together(&mut connection, &[grant.clone(), nothing.clone()]).unwrap();
        registered.alone(&mut connection).unwrap();
        token.alone(&mut connection).unwrap();
        grant.alone(&mut connection).unwrap();
    }
    let expected = [registered.event, token.event, grant.event].map(|event| *event.unwrap());
    let stored = fresh_events(&mut connection, 10).unwrap();
    assert_eq!(stored.len(), 3);
    assert!(expected.iter().all(|event| stored.contains(event)), "{stored:?}");
}

#[test]
fn what_is_recorded_again_while_it_is_sealed_is_not_stored_twice() {
    let (url, mut connection) = migrated();
    let mut other = url.open_for_operations().unwrap();
    for _ in 0..20 {
        let recorded = event(EventKind::Upgraded);
        assert!(record_event(&mut connection, &recorded).unwrap());
        let command = seal(&mut connection, 10);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert!(!record_event(&mut other, &recorded).unwrap());
                }
            });
            assert_eq!(seal_events(&mut connection, &command).unwrap(), Sealed::Sealed);
        });
        assert_eq!(count(&mut connection, "fresh_events"), 0);
    }
}

#[test]
fn an_account_that_is_deleted_while_its_events_are_made_and_sealed_leaves_nothing_of_the_person() {
    let (mut crowd, mut connection) = lingering();
    for _ in 0..20 {
        let (login, session) = signed_in(&mut connection);
        for _ in 0..5 {
            let about = Event { person: Some(EventPerson::User(session.user)), ..event(EventKind::SignIn) };
            record_event(&mut connection, &about).unwrap();
        }
        let again = CompleteLogin {
            event: boxed(EventKind::SignIn),
            ..fixtures::complete_login_of(login.account.clone())
        };
        let mut proceed = fixtures::continue_session(&session, login.client);
        proceed.login.event = boxed(EventKind::SignInContinued);
        let delete = DeleteAccount {
            event: boxed(EventKind::AccountDeleted),
            ..fixtures::delete_account(session.user)
        };
        let sealing = seal(&mut connection, 100);
        crowd.at_once(&[
            step(|connection| delete_account(connection, &delete)),
            step(|connection| seal_events(connection, &sealing)),
            step(|connection| complete_login(connection, &again)),
            step(|connection| continue_session(connection, &proceed)),
        ]);
        let id = session.user.as_uuid();
        for table in ["fresh_events", "events"] {
            assert_eq!(count(&mut connection, &format!("{table} WHERE user_id = '{id}'")), 0, "{table}");
            let left = "pseudonym IS NOT NULL AND COALESCE(family, chain, address, peer) IS NOT NULL";
            assert_eq!(count(&mut connection, &format!("{table} WHERE {left}")), 0, "{table}");
        }
        let deletion = delete.event.as_ref().unwrap().id;
        let stored = find_event(&mut connection, deletion).unwrap().unwrap().event;
        assert_eq!(stored.person, Some(EventPerson::Deleted(delete.pseudonym)));
        while !fresh_events(&mut connection, 1).unwrap().is_empty() {
            let command = seal(&mut connection, 100);
            seal_events(&mut connection, &command).unwrap();
        }
    }
    let faithful = sealed_events(&mut connection, 0, 1_000).unwrap().into_iter().all(|at| match at {
        EventAt::Event(sealed) => sealed.is_faithful(),
        EventAt::Unreadable { .. } => false,
    });
    assert!(faithful);
}

/// Forty thousand sealed events in forty checkpoints, of two thousand users, at two hundred clients; only some
/// kinds are frequent. A few are fresh.
const MANY: &str = "\
    INSERT INTO events \
      SELECT number, ('00000000-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid, \
        CASE WHEN number % 100 = 0 THEN 'client_changed' ELSE 'sign_in' END, 'person', \
        CASE WHEN number % 20 <> 1 THEN ('00000000-0000-7000-8000-' || lpad(to_hex(number % 2000), 12, '0'))::uuid END, \
        CASE number % 1000 WHEN 1 THEN decode(lpad(to_hex(number), 32, '0'), 'hex') END, \
        'eip155', 'eip155:1', 'a' || number % 2000, \
        ('00000000-0000-7000-8000-' || lpad(to_hex(number % 200), 12, '0'))::uuid, NULL, NULL, '{}', \
        decode(repeat('00', 16), 'hex'), sha256('') \
      FROM generate_series(1, 40000) AS number; \
    UPDATE events SET family = NULL, chain = NULL, address = NULL WHERE pseudonym IS NOT NULL; \
    INSERT INTO checkpoints \
      SELECT number, now(), (number - 1) * 1000 + 1, 1000, sha256(''), sha256(''), 1, 'jws' \
      FROM generate_series(1, 40) AS number; \
    INSERT INTO fresh_events SELECT gen_random_uuid(), kind, actor, user_id, pseudonym, family, chain, address, client_id \
      , peer, request, details FROM events ORDER BY position LIMIT 30; \
    ANALYZE";

#[test]
fn a_page_of_many_events_reads_few_rows() {
    let (_, mut connection) = migrated();
    connection.batch_execute(MANY).unwrap();
    let all = EventFilter::default();
    let id = |number: u128| uuid::Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0000 | number);
    let who = |who| EventFilter { who: Some(who), ..EventFilter::default() };
    let user = who(Subject::User(EventPerson::User(UserId::from_uuid(id(77)))));
    let deleted = who(Subject::User(EventPerson::Deleted(Pseudonym::new(1_001_u128.to_be_bytes()))));
    let mut account = fixtures::wallet_account();
    account.family = "eip155".to_owned();
    account.address = "a21".to_owned();
    let wallet = who(Subject::Wallet(account));
    let client = EventFilter { client: Some(ClientId::from_uuid(id(100))), ..EventFilter::default() };
    let rare = EventFilter { kinds: vec![EventKind::ClientChanged], ..EventFilter::default() };
    let kinds = EventFilter { kinds: vec![EventKind::SignIn, EventKind::ClientChanged], ..all.clone() };
    let rare_of_client = EventFilter { kinds: rare.kinds.clone(), ..client.clone() };
    let cases = [
        ("all", &all, 20, 150),
        ("a user", &user, 20, 150),
        ("a deleted user", &deleted, 1, 150),
        ("a wallet", &wallet, 20, 150),
        ("a client", &client, 20, 250),
        ("a rare kind", &rare, 20, 150),
        ("kinds", &kinds, 20, 150),
        ("a rare kind of a client", &rare_of_client, 20, 150),
    ];
    for (name, filter, found, most) in cases {
        for order in [EventOrder::NewestFirst, EventOrder::OldestFirst] {
            let before = reads(&mut connection);
            let events = list_events(&mut connection, filter, page(order, 20)).unwrap();
            let read = reads(&mut connection) - before;
            assert_eq!(events.len(), found, "{name}");
            assert!(read <= most, "{name}: {read} rows");
        }
    }
    let sealed = EventId::from_uuid(id(500));
    type Ask<'a> = Box<dyn Fn(&mut PgConnection) + 'a>;
    let asks: [(&str, i64, Ask<'_>); 6] = [
        ("one", 20, Box::new(|c| drop(find_event(c, sealed).unwrap().unwrap()))),
        ("last checkpoint", 10, Box::new(|c| drop(last_checkpoint(c).unwrap()))),
        ("checkpoints", 50, Box::new(|c| drop(checkpoints(c, 20, 10).unwrap()))),
        ("sealed", 50, Box::new(|c| drop(sealed_events(c, 20_000, 10).unwrap()))),
        ("the first sealed", 50, Box::new(|c| drop(sealed_events(c, 0, 10).unwrap()))),
        (
            "of a pseudonym",
            150,
            Box::new(|c| {
                assert_eq!(count_events_of(c, Pseudonym::new(1_001_u128.to_be_bytes())).unwrap(), 1)
            }),
        ),
    ];
    for (name, most, ask) in asks {
        let before = reads(&mut connection);
        ask(&mut connection);
        let read = reads(&mut connection) - before;
        assert!(read <= most, "{name}: {read} rows");
    }
    let before = reads(&mut connection);
    let forget = ForgetEvents { before: 2_001, checkpoints: 1 };
    assert_eq!(forget_events(&mut connection, &forget).unwrap(), 1_000);
    let read = reads(&mut connection) - before;
    assert!(read <= 4_100, "forgetting: {read} rows");
}

#[test]
fn a_thousand_events_are_sealed_in_a_moment() {
    let (_, mut connection) = migrated();
    for _ in 0..3 {
        for _ in 0..1_000 {
            let about =
                Event { person: Some(EventPerson::User(fixtures::user_id())), ..event(EventKind::SignIn) };
            record_event(&mut connection, &about).unwrap();
        }
        let command = seal(&mut connection, 1_000);
        let start = Instant::now();
        assert_eq!(seal_events(&mut connection, &command).unwrap(), Sealed::Sealed);
        assert!(start.elapsed() < std::time::Duration::from_secs(1), "{:?}", start.elapsed());
    }
}

/// Three events and two checkpoints; what is done to the second; and what is wrong with it then.
#[test]
fn a_row_that_somebody_tampered_with_is_told_of_and_the_others_are_read() {
    let (_, mut connection) = migrated();
    for (kind, events) in [(EventKind::SignIn, 2), (EventKind::SignOut, 1)] {
        for _ in 0..events {
            record_event(&mut connection, &event(kind)).unwrap();
        }
        let command = seal(&mut connection, 10);
        assert_eq!(seal_events(&mut connection, &command).unwrap(), Sealed::Sealed);
    }
    let columns =
        "kind actor details commitment root previous jws sealed_at first_position events kept_from id";
    for column in columns.split(' ') {
        for table in ["events", "checkpoints"] {
            // Somebody who can alter rows can alter tables.
            let alter = format!("ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL");
            drop(sql_query(alter).execute(&mut connection));
        }
    }
    for (set, problem) in [
        ("kind = 'sign_In'", "impossible kind"),
        ("kind = NULL", "impossible kind"),
        ("actor = ''", "impossible actor"),
        ("pseudonym = '\\x00'", "impossible pseudonym"),
        ("user_id = gen_random_uuid(), pseudonym = decode(repeat('00', 16), 'hex')", "impossible pseudonym"),
        ("chain = NULL", "impossible address"),
        ("peer = 'localhost'", "impossible peer"),
        ("details = NULL", "impossible details"),
        ("salt = ''", "impossible salt"),
        ("commitment = ''", "impossible commitment"),
        ("commitment = NULL", "impossible commitment"),
        ("hiding_proof = ''", "impossible hiding_proof"),
    ] {
        let mut told = Vec::new();
        let undone = connection.transaction(|connection| {
            sql_query(format!("UPDATE events SET {set} WHERE position = 2")).execute(connection)?;
            told = sealed_events(connection, 0, 10).unwrap();
            Err::<(), _>(diesel::result::Error::RollbackTransaction)
        });
        assert!(undone.is_err());
        let [EventAt::Event(_), at, EventAt::Event(_)] = &*told else { panic!("{set}: {told:?}") };
        assert_eq!(*at, EventAt::Unreadable { position: 2, problem: problem.to_owned() }, "{set}");
    }
    for (set, problem) in [
        ("sealed_at = 'infinity'", "impossible sealed_at"),
        ("sealed_at = '20000-01-01'", "impossible sealed_at"),
        ("first_position = -1", "impossible first_position"),
        ("events = -1", "impossible events"),
        ("root = ''", "impossible root"),
        ("previous = NULL", "impossible previous"),
        ("kept_from = -1", "impossible kept_from"),
        ("jws = NULL", "impossible jws"),
    ] {
        let mut told = Vec::new();
        let undone = connection.transaction(|connection| {
            sql_query(format!("UPDATE checkpoints SET {set} WHERE number = 2")).execute(connection)?;
            told = checkpoints(connection, 0, 10).unwrap();
            Err::<(), _>(diesel::result::Error::RollbackTransaction)
        });
        assert!(undone.is_err());
        let [CheckpointAt::Checkpoint(_), at] = &*told else { panic!("{set}: {told:?}") };
        assert_eq!(*at, CheckpointAt::Unreadable { number: 2, problem: problem.to_owned() }, "{set}");
    }
    connection
        .batch_execute(
            "UPDATE events SET position = -position WHERE position > 1; \
            UPDATE checkpoints SET number = 0 WHERE number = 1",
        )
        .unwrap();
    let told = sealed_events(&mut connection, 0, 10).unwrap();
    let problem = "2 rows at positions before the first".to_owned();
    assert_eq!(told.first(), Some(&EventAt::Unreadable { position: 0, problem }));
    assert_eq!(told.len(), 2);
    assert_eq!(sealed_events(&mut connection, 1, 10).unwrap(), []);
    let told = checkpoints(&mut connection, 0, 10).unwrap();
    let problem = "1 rows with numbers before the first".to_owned();
    assert_eq!(told.first(), Some(&CheckpointAt::Unreadable { number: 0, problem }));
}

/// A row of an impossible kind, one that is not exactly what it would be stored as, and a copy of a sealed event.
#[test]
fn f_25_fresh_rows_that_cannot_be_sealed_hide_no_other_event() {
    let (_, mut connection) = migrated();
    let connection = &mut connection;
    let first = event(EventKind::Upgraded);
    assert!(record_event(connection, &first).unwrap());
    let command = seal(connection, 10);
    assert_eq!(seal_events(connection, &command).unwrap(), Sealed::Sealed);
    let columns =
        "kind, actor, user_id, pseudonym, family, chain, address, client_id, peer, request, details, signed";
    for (id, values) in [
        ("'00000000-0000-7000-8000-000000000001'::uuid", columns.replace("kind", "'x'")),
        ("'00000000-0000-7000-8000-000000000002'::uuid", columns.replace("peer", "'203.0.113.77/24'")),
        ("id", columns.to_owned()),
    ] {
        let copy = format!("INSERT INTO fresh_events (id, {columns}) SELECT {id}, {values} FROM events");
        diesel::sql_query(copy).execute(connection).unwrap();
    }
    let later = [event(EventKind::Upgraded), event(EventKind::Upgraded)];
    for event in &later {
        assert!(record_event(connection, event).unwrap());
    }
    let mut expected = later.to_vec();
    expected.sort_by_key(|event| event.id);
    assert_eq!(fresh_events(connection, 1).unwrap(), expected[..1]);
    assert_eq!(fresh_events(connection, 10).unwrap(), expected);
    let found = unsealable_events(connection, 10, None).unwrap();
    let mut problems: Vec<_> = found.iter().map(|row| &*row.problem).collect();
    problems.sort_unstable();
    assert_eq!(problems, ["an event with its id is sealed already", "impossible kind", "impossible peer"]);
    for (away, rows) in [(-13, 3), (0, 2), (13, 3)] {
        let recent = Recent::around(first.id.at_time() + Duration::seconds(away), Duration::seconds(12));
        assert_eq!(unsealable_events(connection, 10, Some(recent)).unwrap().len(), rows, "{away}");
    }
    let filter = &EventFilter::default();
    let listed = list_events(connection, filter, page(EventOrder::OldestFirst, 10)).unwrap();
    assert_eq!(listed.len(), 3, "the copy and those that cannot be read are left out");
    assert_eq!(list_events(connection, filter, page(EventOrder::OldestFirst, 1)).unwrap().len(), 1);
    let command = seal(connection, 10);
    assert_eq!(seal_events(connection, &command).unwrap(), Sealed::Sealed);
}
