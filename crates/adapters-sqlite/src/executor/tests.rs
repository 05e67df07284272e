//! The writer when something fails: what happens to a batch, and that the next one works.

use std::time::Duration;

use countersign_conformance::fixtures;
use countersign_domain::checkpoint::{Checkpoint, Digest256, Salt, SealedEvent, SignedCheckpoint};
use countersign_domain::event::{Actor, Details, Event, EventKind};
use countersign_domain::id::EventId;
use countersign_ports::StoreError;
use countersign_sql::schema::{clients, grants, users};
use diesel::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::error::store_error;
use crate::setup::migrate;

fn executor() -> (TempDir, SqliteExecutor) {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(&folder.path().join("test.db")).unwrap();
    migrate::run(&file).unwrap();
    let options = SqliteOptions { busy_timeout: Duration::from_millis(50), ..SqliteOptions::default() };
    (folder, SqliteExecutor::open(file, options).unwrap())
}

fn register() -> Command {
    Command::register_client { command: fixtures::register_client() }
}

fn of_login(command: CompleteLogin) -> Command {
    Command::complete_login { command }
}

fn event() -> Event {
    let mut tail = [0; 10];
    tail[6..].copy_from_slice(&fixtures::unique().to_be_bytes());
    Event {
        id: EventId::at(fixtures::NOW, tail),
        kind: EventKind::SignIn,
        actor: Actor::Person,
        person: None,
        wallet: None,
        client: None,
        address: None,
        request: None,
        details: Details::default(),
        signed: None,
    }
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
}

impl SqliteExecutor {
    fn raw(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().unwrap()
    }

    /// Writes something that no command writes.
    pub(crate) fn write_by_hand(&mut self, statements: &str) {
        self.raw().batch_execute(&format!("BEGIN; {statements} COMMIT;")).unwrap();
    }

    fn logins_and_events(&mut self) -> [i64; 2] {
        ["grants", "fresh_events"].map(|table| {
            let count = diesel::sql_query(format!("SELECT count(*) AS number FROM {table}"));
            count.get_result::<Number>(self.raw()).unwrap().number
        })
    }

    fn clients(&mut self) -> i64 {
        clients::table.count().get_result(self.raw()).unwrap()
    }
}

#[test]
fn a_batch_with_a_broken_command_leaves_nothing_behind() {
    let (_folder, mut executor) = executor();
    let login = fixtures::complete_login();
    let somebody_elses = CompleteLogin { new_user: login.new_user, ..fixtures::complete_login() };
    executor.execute(&[of_login(login)]).unwrap();

    let result = executor.execute(&[register(), of_login(somebody_elses)]);

    assert!(matches!(result, Err(SqliteError::UserIdTaken)));
    assert_eq!(executor.clients(), 0);
    executor.execute(&[register()]).unwrap();
    assert_eq!(executor.clients(), 1);
}

#[test]
fn refusals_do_not_disturb_their_batch() {
    let (_folder, mut executor) = executor();
    let login = fixtures::complete_login();
    let stranger = CompleteLogin { id: login.id, ..fixtures::complete_login() };
    let batch = [of_login(login.clone()), of_login(stranger), register()];

    let outcomes: Vec<_> = executor.execute(&batch).unwrap().into_iter().collect();

    assert!(matches!(
        outcomes[..],
        [
            Outcome::complete_login(LoginCompleted::CodeIssued { user }),
            Outcome::complete_login(LoginCompleted::ChallengeSpent),
            Outcome::register_client(Registered::Stored),
        ] if user == login.new_user
    ));
    let rows: (i64, i64) = (
        grants::table.count().get_result(executor.raw()).unwrap(),
        users::table.count().get_result(executor.raw()).unwrap(),
    );
    assert_eq!(rows, (1, 1), "the refused login made neither a grant nor a user");
}

#[test]
fn d_11_a_full_disk_is_an_outage_and_writes_go_on_when_there_is_room() {
    let (_folder, mut executor) = executor();
    executor.raw().batch_execute("PRAGMA max_page_count = 1").unwrap();
    let error = loop {
        let batch: Vec<_> = (0..10).map(|_| register()).collect();
        if let Err(error) = executor.execute(&batch) {
            break error;
        }
    };
    assert!(error.is_outage(), "{error:?}");
    assert!(matches!(store_error(std::sync::Arc::new(error)), StoreError::Unavailable(_)));
    let before = executor.clients();

    executor.raw().batch_execute("PRAGMA max_page_count = 1000000").unwrap();
    executor.execute(&[register()]).unwrap();

    assert_eq!(executor.clients(), before + 1);
}

/// Wherever the room ends, the login and its event are both there or both not.
#[test]
fn a_full_disk_during_a_login_leaves_neither_the_act_nor_its_event() {
    let (_folder, mut executor) = executor();
    let login = |details: usize| {
        let mut login = fixtures::complete_login();
        let details = Details::default().text("text", "x".repeat(details));
        login.event = Some(Box::new(Event { details, ..event() }));
        of_login(login)
    };
    let mut refused = 0;
    for round in 0..40 {
        let pages = diesel::sql_query("SELECT page_count AS number FROM pragma_page_count");
        let pages: Number = pages.get_result(executor.raw()).unwrap();
        executor.raw().batch_execute(&format!("PRAGMA max_page_count = {}", pages.number)).unwrap();
        // Every other time it is the event for which there is no room.
        let result = executor.execute(&[login(if round % 2 == 0 { 10_000 } else { 0 })]);
        refused += usize::from(result.is_err_and(|error| error.is_outage()));
        let [logins, events] = executor.logins_and_events();
        assert_eq!(logins, events);
        executor.raw().batch_execute("PRAGMA max_page_count = 1000000").unwrap();
        for _ in 0..7 {
            executor.execute(&[login(0)]).unwrap();
        }
    }
    assert!(refused >= 20, "{refused} logins were refused");
    assert_eq!(executor.logins_and_events(), [40 * 8 - i64::try_from(refused).unwrap(); 2]);
}

/// A refused sealing takes back what it stored, and nothing else.
#[test]
fn a_stale_sealing_does_not_disturb_its_batch() {
    let (_folder, mut executor) = executor();
    let sealing = |events: Vec<Event>| {
        let events: Vec<_> = (1..)
            .zip(events)
            .map(|(position, event)| SealedEvent::seal(position, event, Salt::new([7; 16])))
            .collect();
        let checkpoint = Checkpoint {
            number: 1,
            sealed_at: fixtures::NOW,
            first: 1,
            events: u32::try_from(events.len()).unwrap(),
            root: Digest256::NOTHING,
            previous: Digest256::NOTHING,
            kept_from: 1,
        };
        let checkpoint = SignedCheckpoint { checkpoint, jws: "jws".to_owned() };
        let command = SealEvents { checkpoint, events, counts: Vec::new() };
        Command::seal_events { command }
    };
    let known = event();
    let batch = [
        Command::record_event { event: known.clone() },
        sealing(vec![known.clone(), event()]),
        register(),
        sealing(vec![known.clone()]),
        sealing(vec![known]),
    ];
    let outcomes = executor.execute(&batch).unwrap();
    assert!(matches!(
        outcomes[..],
        [
            Outcome::record_event(true),
            Outcome::seal_events(Sealed::Stale),
            Outcome::register_client(Registered::Stored),
            Outcome::seal_events(Sealed::Sealed),
            Outcome::seal_events(Sealed::Sealed),
        ]
    ));
    assert_eq!(executor.clients(), 1);
}

#[test]
fn a_file_that_somebody_else_keeps_locked_is_an_outage_and_writes_go_on_afterwards() {
    let (_folder, mut executor) = executor();
    let mut other = pool::connect(&executor.file, Duration::ZERO).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let error = executor.execute(&[Command::ping {}]).unwrap_err();
    assert!(error.is_outage(), "{error:?}");

    other.batch_execute("COMMIT").unwrap();
    executor.execute(&[register()]).unwrap();

    assert_eq!(executor.clients(), 1);
}

#[test]
fn a_transaction_that_was_left_open_does_not_reach_the_next_batch() {
    let (_folder, mut executor) = executor();
    executor.raw().batch_execute("BEGIN IMMEDIATE; DELETE FROM clients").unwrap();
    assert!(executor.execute(&[register()]).is_err(), "BEGIN fails inside a transaction");
    executor.execute(&[register()]).unwrap();
    assert_eq!(executor.clients(), 1);
}

#[test]
fn a_connection_that_was_lost_is_made_anew() {
    let (_folder, mut executor) = executor();
    executor.connection = None;
    executor.execute(&[register()]).unwrap();
    assert_eq!(executor.clients(), 1);
}

#[test]
fn d_02_a_commit_of_the_writer_waits_for_the_disk() {
    #[derive(QueryableByName)]
    struct Settings {
        #[diesel(sql_type = diesel::sql_types::Text)]
        journal_mode: String,
        #[diesel(sql_type = diesel::sql_types::Integer)]
        synchronous: i32,
        #[diesel(sql_type = diesel::sql_types::Integer)]
        foreign_keys: i32,
    }
    let (_folder, mut executor) = executor();
    let settings: Settings = diesel::sql_query(
        "SELECT journal_mode, synchronous, foreign_keys \
         FROM pragma_journal_mode, pragma_synchronous, pragma_foreign_keys",
    )
    .get_result(executor.raw())
    .unwrap();
    const FULL: i32 = 2;
    assert_eq!(
        (settings.journal_mode.as_str(), settings.synchronous, settings.foreign_keys),
        ("wal", FULL, 1)
    );
}

#[test]
fn a_reader_cannot_write() {
    let (_folder, executor) = executor();
    let readers = pool::connect_readers(&executor.file, &SqliteOptions::default()).unwrap();
    let written = diesel::delete(clients::table).execute(&mut *readers.get().unwrap());
    assert!(written.unwrap_err().to_string().contains("readonly"));
}
