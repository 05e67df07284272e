//! Events in a file that can be killed, reverted, or tampered with.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and so do its helpers")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use countersign_adapters_sqlite::{SqliteOptions, SqliteStorage, migrate, revert_all};
use countersign_conformance::fixtures;
use countersign_domain::checkpoint::{Checkpoint, Digest256, Salt, SealedEvent, SignedCheckpoint};
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson};
use countersign_domain::id::EventId;
use countersign_domain::peer_address::PeerAddress;
use countersign_ports::{
    CheckpointAt, EventAt, EventFilter, EventOrder, EventPage, EventStore, LoginStore, Recent, SealEvents,
    Sealed, StoreError,
};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("countersign.db");
    (folder, path)
}

fn open(path: &Path) -> SqliteStorage {
    SqliteStorage::open(path, SqliteOptions::default()).unwrap()
}

/// Writes something that no operation writes.
fn tamper(path: &Path, statements: &str) {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA ignore_check_constraints = ON").unwrap();
    connection.batch_execute(statements).unwrap();
}

fn count(path: &Path, rows: &str) -> i64 {
    #[derive(QueryableByName)]
    struct Count {
        #[diesel(sql_type = BigInt)]
        count: i64,
    }
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA busy_timeout = 5000").unwrap();
    let count = diesel::sql_query(format!("SELECT count(*) AS count FROM {rows}"));
    count.get_result::<Count>(&mut connection).unwrap().count
}

/// An event with a value in every field. Later ones have later ids.
fn event() -> Event {
    let number = fixtures::unique();
    let mut tail = [0; 10];
    tail[2..6].copy_from_slice(&std::process::id().to_be_bytes());
    tail[6..].copy_from_slice(&number.to_be_bytes());
    Event {
        id: EventId::at(fixtures::NOW + Duration::from_millis(number.into()), tail),
        kind: EventKind::SignIn,
        actor: Actor::Person,
        person: Some(EventPerson::User(fixtures::user_id())),
        wallet: Some(fixtures::wallet_account()),
        client: Some(fixtures::client_id()),
        address: Some(PeerAddress::network([203, 0, 113, 77].into())),
        request: Some(format!("request-{number}")),
        details: Details::default().number("number", number.into()),
        signed: Some(fixtures::signed()),
    }
}

/// Seals events after the last checkpoint.
async fn seal(storage: &SqliteStorage, events: Vec<Event>) -> Result<Sealed, StoreError> {
    let last = storage.last_checkpoint().await?;
    let (number, first) = last.map_or((1, 1), |last| (last.checkpoint.number + 1, last.checkpoint.next()));
    let events: Vec<_> = (first..)
        .zip(events)
        .map(|(position, event)| SealedEvent::seal(position, event, Salt::new([7; 16])))
        .collect();
    let checkpoint = Checkpoint {
        number,
        sealed_at: fixtures::NOW,
        first,
        events: u32::try_from(events.len()).unwrap(),
        root: Digest256::new([1; 32]),
        previous: Digest256::NOTHING,
        kept_from: 1,
    };
    let checkpoint = SignedCheckpoint { checkpoint, jws: format!("jws {number}") };
    storage.seal_events(SealEvents { checkpoint, events, counts: Vec::new() }).await
}

/// A database with three sealed events, and the third of them.
async fn three_sealed(path: &Path) -> (SqliteStorage, EventAt) {
    let storage = open(path);
    let events = vec![event(), event(), event()];
    for event in events.clone() {
        assert!(storage.record_event(event).await.unwrap());
    }
    assert_eq!(seal(&storage, events).await.unwrap(), Sealed::Sealed);
    let third = storage.sealed_events(2, 1).await.unwrap().remove(0);
    (storage, third)
}

/// The columns of a sealed event, and what none of our operations writes there. What has another type is no
/// better: no index finds it under its value.
const IMPOSSIBLE_EVENTS: &[(&str, &[&str])] = &[
    ("id", &["x'00'", "zeroblob(17)", "'0123456789abcdef'", "5"]),
    ("kind", &["'Sign_in'", "''", "CAST('sign_in' AS BLOB)", "CAST(x'ff' AS TEXT)"]),
    ("actor", &["'nobody'", "''", "CAST('person' AS BLOB)", "'key'"]),
    ("user_id", &["x'00'", "zeroblob(1000000)", "7", "'0123456789abcdef'", "1.5"]),
    ("pseudonym", &["zeroblob(16)", "x'00'", "'x'"]),
    ("address", &["NULL", "x'ff'", "CAST(x'c328' AS TEXT)"]),
    ("family", &["x'00'"]),
    ("chain", &["x'00'"]),
    ("client_id", &["x'00'", "'0123456789abcdef'"]),
    ("peer", &["'203.0.113.77/24'", "'host'", "''", "x'00'"]),
    ("request", &["x'00'", "CAST(x'ff' AS TEXT)"]),
    ("details", &["x'00'", "CAST(x'80' AS TEXT)"]),
    ("signed", &["x'00'", "CAST(x'80' AS TEXT)"]),
    ("salt", &["x'00'", "zeroblob(17)", "'0123456789abcdef'"]),
    ("commitment", &["x'00'", "zeroblob(33)", "'0123456789abcdef0123456789abcdef'"]),
    ("hiding_proof", &["x'00'", "zeroblob(33)", "'0123456789abcdef0123456789abcdef'"]),
];

#[tokio::test]
async fn a_sealed_row_that_cannot_be_an_event_names_its_column_and_hides_no_other() {
    let (_folder, path) = place();
    let (storage, third) = three_sealed(&path).await;
    let second = storage.sealed_events(1, 1).await.unwrap().remove(0);
    tamper(&path, "CREATE TABLE saved AS SELECT * FROM events WHERE position = 2");
    let mut tried = 0;
    for (column, values) in IMPOSSIBLE_EVENTS {
        for value in *values {
            tamper(&path, &format!("UPDATE events SET {column} = {value} WHERE position = 2"));
            let expected = EventAt::Unreadable { position: 2, problem: format!("impossible {column}") };
            let found = storage.sealed_events(1, 10).await.unwrap();
            assert_eq!(found, [expected, third.clone()], "{column} = {value}");
            tamper(&path, "DELETE FROM events WHERE position = 2; INSERT INTO events SELECT * FROM saved");
            assert_eq!(storage.sealed_events(1, 10).await.unwrap(), [second.clone(), third.clone()]);
            tried += 1;
        }
    }
    assert_eq!(tried, 46);
}

#[tokio::test]
async fn a_list_names_the_row_that_cannot_be_an_event() {
    let (_folder, path) = place();
    let (storage, _) = three_sealed(&path).await;
    tamper(&path, "UPDATE events SET peer = 'host' WHERE position = 2");
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: 10 };
    let error = storage.list_events(&EventFilter::default(), page).await.unwrap_err();
    assert!(error.to_string().ends_with("has an impossible peer"), "{error}");
}

/// What a fresh row can hold that no event has: each column with a value of another type or form.
const UNSEALABLE: [(&str, &str); 9] = [
    ("id = x'00'", "impossible id"),
    ("id = 'sixteen letters.'", "1 rows with an impossible id"),
    ("kind = 'x'", "impossible kind"),
    ("kind = CAST(kind AS BLOB)", "impossible kind"),
    ("actor = 'nobody'", "impossible actor"),
    ("user_id = 'sixteen letters.'", "impossible user_id"),
    ("pseudonym = x'01'", "impossible pseudonym"),
    ("peer = '203.0.113.77/24'", "impossible peer"),
    ("details = x'ff'", "impossible details"),
];

#[tokio::test]
async fn f_25_a_fresh_row_that_cannot_be_sealed_hides_no_other_event() {
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: 2 };
    for (change, problem) in UNSEALABLE {
        let (_folder, path) = place();
        let storage = open(&path);
        let events = [event(), event(), event()];
        for event in &events {
            assert!(storage.record_event(event.clone()).await.unwrap());
        }
        tamper(
            &path,
            &format!("UPDATE fresh_events SET {change} WHERE id = (SELECT min(id) FROM fresh_events)"),
        );
        let fresh = storage.fresh_events(2).await.unwrap();
        assert_eq!(fresh, events[1..], "{change}");
        let found = storage.unsealable_events(10, None).await.unwrap();
        assert_eq!(found.iter().map(|row| &*row.problem).collect::<Vec<_>>(), [problem], "{change}");
        let listed = storage.list_events(&EventFilter::default(), page).await.unwrap();
        assert!(listed.ends_with(&events[1..2]) || listed == events[1..], "{change}: {listed:?}");
        assert_eq!(seal(&storage, fresh).await.unwrap(), Sealed::Sealed, "{change}");
        assert_eq!(storage.fresh_events(2).await.unwrap(), []);
    }
}

#[tokio::test]
async fn f_25_a_copy_of_a_sealed_event_stays_unsealed_and_is_listed_once() {
    let (_folder, path) = place();
    let (storage, _) = three_sealed(&path).await;
    let columns = "id, kind, actor, user_id, pseudonym, family, chain, address, client_id, peer, request, details, signed";
    tamper(
        &path,
        &format!("INSERT INTO fresh_events ({columns}) SELECT {columns} FROM events WHERE position = 1"),
    );
    let new = event();
    assert!(storage.record_event(new.clone()).await.unwrap());
    assert_eq!(storage.fresh_events(10).await.unwrap(), [new]);
    let found = storage.unsealable_events(10, None).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].problem, "an event with its id is sealed already");
    let at = found[0].id.unwrap().at_time();
    for (away, rows) in [(-13, 1), (-12, 0), (0, 0), (12, 0), (13, 1)] {
        let recent = Recent::around(at + time::Duration::seconds(away), time::Duration::seconds(12));
        assert_eq!(storage.unsealable_events(10, Some(recent)).await.unwrap().len(), rows, "{away}");
    }
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: 10 };
    assert_eq!(storage.list_events(&EventFilter::default(), page).await.unwrap().len(), 4);
}

const IMPOSSIBLE_CHECKPOINTS: &[(&str, &[&str])] = &[
    ("sealed_at", &["'noon'", "1.5", "9223372036854775807", "x'00'"]),
    ("first_position", &["'one'", "-1", "x'01'"]),
    ("events", &["-1", "4294967296", "'x'"]),
    ("root", &["x'00'", "'0123456789abcdef0123456789abcdef'", "0"]),
    ("previous", &["x'00'", "zeroblob(33)"]),
    ("kept_from", &["-1", "'x'"]),
    ("jws", &["x'00'", "CAST(x'ff' AS TEXT)"]),
];

#[tokio::test]
async fn a_row_that_cannot_be_a_checkpoint_names_its_column_and_hides_no_other() {
    let (_folder, path) = place();
    let (storage, _) = three_sealed(&path).await;
    for _ in 0..2 {
        assert_eq!(seal(&storage, Vec::new()).await.unwrap(), Sealed::Sealed);
    }
    let third = storage.checkpoints(2, 1).await.unwrap().remove(0);
    tamper(&path, "CREATE TABLE saved AS SELECT * FROM checkpoints WHERE number = 2");
    let mut tried = 0;
    for (column, values) in IMPOSSIBLE_CHECKPOINTS {
        for value in *values {
            tamper(&path, &format!("UPDATE checkpoints SET {column} = {value} WHERE number = 2"));
            let found = storage.checkpoints(1, 10).await.unwrap();
            let expected = CheckpointAt::Unreadable { number: 2, problem: format!("impossible {column}") };
            assert_eq!(found, [expected, third.clone()], "{column} = {value}");
            let restore =
                "DELETE FROM checkpoints WHERE number = 2; INSERT INTO checkpoints SELECT * FROM saved";
            tamper(&path, restore);
            tried += 1;
        }
    }
    assert_eq!(tried, 19);
}

#[tokio::test]
async fn a_column_that_must_have_a_value_and_has_none_is_told_of() {
    for column in ["kind", "actor", "details", "commitment"] {
        let (_folder, path) = place();
        let (storage, _) = three_sealed(&path).await;
        let definition = format!("replace(sql, '{column} TEXT NOT NULL', '{column} TEXT')");
        let definition = format!("replace({definition}, '{column} BLOB NOT NULL', '{column} BLOB')");
        tamper(
            &path,
            &format!(
                "PRAGMA writable_schema = ON; \
                 UPDATE sqlite_schema SET sql = {definition} WHERE name = 'events'; \
                 PRAGMA writable_schema = RESET; \
                 UPDATE events SET {column} = NULL WHERE position = 2"
            ),
        );
        let found = storage.sealed_events(1, 1).await.unwrap();
        let expected = EventAt::Unreadable { position: 2, problem: format!("impossible {column}") };
        assert_eq!(found, [expected]);
    }
}

/// `event list` would show them, and whoever verifies from the first position on would not meet them.
#[tokio::test]
async fn what_was_put_before_the_first_position_is_told_of() {
    let (_folder, path) = place();
    let (storage, third) = three_sealed(&path).await;
    tamper(
        &path,
        "UPDATE events SET position = -position WHERE position < 3; \
         INSERT INTO checkpoints SELECT 0, sealed_at, first_position, events, root, previous, kept_from, jws \
         FROM checkpoints",
    );
    let problem = "2 rows at positions before the first".to_owned();
    let strays = EventAt::Unreadable { position: 0, problem };
    assert_eq!(storage.sealed_events(0, 10).await.unwrap(), [strays.clone(), third.clone()]);
    assert_eq!(storage.sealed_events(0, 1).await.unwrap(), [strays]);
    assert_eq!(storage.sealed_events(1, 10).await.unwrap(), [third]);
    let found = storage.checkpoints(0, 10).await.unwrap();
    let problem = "1 rows with numbers before the first".to_owned();
    assert_eq!(found[0], CheckpointAt::Unreadable { number: 0, problem });
    assert_eq!(found.iter().map(CheckpointAt::number).collect::<Vec<_>>(), [0, 1]);
}

#[tokio::test]
async fn positions_and_numbers_that_no_column_can_hold_are_not_found() {
    let (_folder, path) = place();
    let (storage, _) = three_sealed(&path).await;
    for after in [3, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX] {
        assert_eq!(storage.sealed_events(after, 10).await.unwrap(), []);
        assert_eq!(storage.checkpoints(after, 10).await.unwrap(), []);
    }
}

/// A fresh event that was altered behind the server's back is not sealed as it was read.
#[tokio::test]
async fn an_event_that_was_altered_before_it_was_sealed_is_stale_whatever_was_altered() {
    let (_folder, path) = place();
    let storage = open(&path);
    for (column, value) in [
        ("kind", "'sign_out'"),
        ("actor", "'server'"),
        ("user_id", "NULL"),
        ("pseudonym", "zeroblob(16)"),
        ("family", "'x'"),
        ("chain", "NULL"),
        ("address", "'0x'"),
        ("client_id", "NULL"),
        ("peer", "NULL"),
        ("request", "''"),
        ("details", "'{}'"),
        ("signed", "NULL"),
        ("signed", "'{}'"),
    ] {
        let events = vec![event(), event()];
        for event in events.clone() {
            assert!(storage.record_event(event).await.unwrap());
        }
        let last = events[1].request.as_deref().unwrap();
        tamper(&path, &format!("UPDATE fresh_events SET {column} = {value} WHERE request = '{last}'"));
        assert_eq!(seal(&storage, events.clone()).await.unwrap(), Sealed::Stale, "{column}");
        assert_eq!(count(&path, "fresh_events"), 2, "{column}");
        assert_eq!(seal(&storage, events[..1].to_vec()).await.unwrap(), Sealed::Sealed);
        tamper(&path, "DELETE FROM fresh_events");
    }
}

#[tokio::test]
async fn migrations_go_down_and_up_again_with_events() {
    let (_folder, path) = place();
    let (storage, _) = three_sealed(&path).await;
    storage.record_event(event()).await.unwrap();
    drop(storage);
    let reverted = revert_all(&path).unwrap();
    assert!(reverted.iter().any(|migration| migration == "2026-11-30-000001_events"));
    assert_eq!(migrate(&path).unwrap().len(), reverted.len());
    let left = ["fresh_events", "events", "checkpoints", "leases"].map(|table| count(&path, table));
    assert_eq!(left, [0; 4]);
    three_sealed(&path).await;
}

/// Not a claim by itself. The next test starts this binary with this name, and kills it.
#[test]
fn a_process_that_signs_in_and_seals_until_it_is_killed() {
    let Ok(path) = std::env::var("COUNTERSIGN_TEST_EVENTS") else { return };
    let storage = Arc::new(open(Path::new(&path)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        loop {
            let logins = (0..200).map(|_| {
                let mut login = fixtures::complete_login();
                login.event = Some(Box::new(Event { person: None, ..event() }));
                let storage = Arc::clone(&storage);
                async move { storage.complete_login(login).await }
            });
            let logins: Vec<_> = logins.map(tokio::spawn).collect();
            for login in logins {
                login.await.unwrap().unwrap();
            }
            let fresh = storage.fresh_events(1_000).await.unwrap();
            seal(&storage, fresh).await.unwrap();
        }
    });
}

#[tokio::test]
async fn kill_9_in_the_middle_of_sealing_leaves_all_of_it_or_nothing() {
    let (_folder, path) = place();
    open(&path);
    for round in 0..25_u64 {
        let before = count(&path, "checkpoints");
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_process_that_signs_in_and_seals_until_it_is_killed"])
            .env("COUNTERSIGN_TEST_EVENTS", &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while count(&path, "checkpoints") == before {
            assert_eq!(process.try_wait().unwrap(), None);
        }
        std::thread::sleep(Duration::from_millis(round * 7 % 40));
        process.kill().unwrap();
        process.wait().unwrap();

        let storage = open(&path);
        let last = storage.last_checkpoint().await.unwrap();
        let sealed = last.map_or(0, |last| last.checkpoint.next() - 1);
        assert_eq!(count(&path, "events"), i64::try_from(sealed).unwrap());
        assert_eq!(count(&path, "events JOIN fresh_events USING (id)"), 0);
        let (acts, fresh) = (count(&path, "grants"), count(&path, "fresh_events"));
        assert_eq!(acts, fresh + count(&path, "events"), "each login has its event");
        let mistaken = "fresh_events AS event LEFT JOIN users ON users.id = user_id WHERE users.id IS NULL";
        assert_eq!(count(&path, mistaken), 0);
    }
}
