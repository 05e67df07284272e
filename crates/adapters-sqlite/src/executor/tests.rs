//! The writer when something fails: what happens to a batch, and that the next one works.

use std::time::Duration;

use countersign_conformance::fixtures;
use countersign_ports::StoreError;
use diesel::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::error::store_error;
use crate::migrate;
use crate::schema::{clients, grants, users};

fn executor() -> (TempDir, SqliteExecutor) {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(&folder.path().join("test.db")).unwrap();
    migrate::run(&file).unwrap();
    let options = SqliteOptions { busy_timeout: Duration::from_millis(50), ..SqliteOptions::default() };
    (folder, SqliteExecutor::open(file, options).unwrap())
}

fn register() -> Command {
    fixtures::register_client().into_command()
}

impl SqliteExecutor {
    fn raw(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().unwrap()
    }

    /// Writes something that no command writes.
    pub(crate) fn write_by_hand(&mut self, statements: &str) {
        self.raw().batch_execute(&format!("BEGIN; {statements} COMMIT;")).unwrap();
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
    executor.execute(&[login.into_command()]).unwrap();

    let result = executor.execute(&[register(), somebody_elses.into_command()]);

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
    let batch = [login.clone().into_command(), stranger.into_command(), register()];

    let outcomes: Vec<_> = executor.execute(&batch).unwrap().into_iter().collect();

    assert!(matches!(
        outcomes[..],
        [
            Outcome::CompleteLogin(LoginCompleted::CodeIssued { user }),
            Outcome::CompleteLogin(LoginCompleted::ChallengeSpent),
            Outcome::RegisterClient(Registered::Stored),
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

#[test]
fn a_file_that_somebody_else_keeps_locked_is_an_outage_and_writes_go_on_afterwards() {
    let (_folder, mut executor) = executor();
    let mut other = pool::connect(&executor.file, Duration::ZERO).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let error = executor.execute(&[Ping.into_command()]).unwrap_err();
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
    let readers = pool::connect_readers(&executor.file, &executor.options).unwrap();
    let written = diesel::delete(clients::table).execute(&mut *readers.get().unwrap());
    assert!(written.unwrap_err().to_string().contains("readonly"));
}
