//! What the thread does while an executor writes, and how it ends.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use countersign_group_commit::Executor;
use tempfile::TempDir;

use super::*;
use crate::executor::{Command, SqliteExecutor};
use crate::setup::migrate;

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);

struct Bench {
    _folder: TempDir,
    file: DatabaseFile,
    executor: SqliteExecutor,
    /// Another connection, which only watches.
    witness: SqliteConnection,
}

/// Statements that add about this many frames to the log.
fn pages(count: i32) -> String {
    format!(
        "DELETE FROM pages; \
         WITH RECURSIVE page (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM page WHERE n < {count}) \
         INSERT INTO pages SELECT randomblob(4000) FROM page;"
    )
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(&folder.path().join("test.db")).unwrap();
    migrate::run(&file).unwrap();
    let executor = SqliteExecutor::open(file.clone(), SqliteOptions::default()).unwrap();
    let mut witness = pool::connect(&file, PATIENCE).unwrap();
    witness.batch_execute("CREATE TABLE pages (data BLOB NOT NULL)").unwrap();
    Bench { _folder: folder, file, executor, witness }
}

impl Bench {
    /// Writes about this many frames, as the writer does, and then causes a check.
    fn write(&mut self, count: i32) {
        self.executor.write_by_hand(&pages(count));
        self.executor.execute(&enough_for_a_look()).unwrap();
    }

    fn log(&mut self) -> Log {
        Log::look(&mut self.witness).unwrap()
    }

    /// The path of SQLite's log.
    fn log_file(&self) -> PathBuf {
        PathBuf::from(format!("{}-wal", self.file.as_str()))
    }
}

fn enough_for_a_look() -> Vec<Command> {
    (0..COMMANDS_BETWEEN_LOOKS).map(|_| Command::ping {}).collect()
}

/// Waits until the condition holds.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::yield_now();
    }
}

#[test]
fn the_log_is_copied_without_the_writer() {
    let mut bench = bench();
    bench.write(WORTH_COPYING + 100);
    let written = bench.log().frames;
    assert!((WORTH_COPYING..WRITER_CHECKPOINT).contains(&written), "{written}");
    until("all of it is in the database", || bench.log() == Log { frames: written, copied: written });
}

#[test]
fn a_log_that_is_hardly_worth_it_is_left_alone() {
    let mut bench = bench();
    bench.write(100);
    let before = bench.log();
    let connection = pool::connect_checkpointer(&bench.file, &SqliteOptions::default()).unwrap();
    copy(connection).unwrap();
    assert_eq!(bench.log(), before);
    assert_eq!(before.copied, 0);
}

#[test]
fn a_log_that_the_writer_is_to_end_is_left_to_it() {
    let mut bench = bench();
    let mut reader = pool::connect(&bench.file, PATIENCE).unwrap();
    reader.batch_execute("BEGIN; SELECT count(*) FROM clients").unwrap();
    bench.executor.write_by_hand(&pages(WRITER_CHECKPOINT));
    reader.batch_execute("COMMIT").unwrap();
    let before = bench.log();
    let connection = pool::connect_checkpointer(&bench.file, &SqliteOptions::default()).unwrap();
    copy(connection).unwrap();
    assert_eq!(bench.log(), before);
    for _ in 0..2 {
        bench.executor.write_by_hand(&pages(1));
    }
    assert!(bench.log().frames < WRITER_CHECKPOINT, "one commit copied it all, and the next one began anew");
}

#[test]
fn while_a_reader_needs_the_old_pages_it_does_not_try_again_and_again() {
    let mut bench = bench();
    let mut reader = pool::connect(&bench.file, PATIENCE).unwrap();
    reader.batch_execute("BEGIN; SELECT count(*) FROM clients").unwrap();
    bench.write(WORTH_COPYING);
    let connection = pool::connect_checkpointer(&bench.file, &SqliteOptions::default()).unwrap();
    copy(connection).unwrap();
    assert!(bench.log().left() >= WORTH_COPYING);
}

#[test]
fn the_log_begins_anew_again_and_again_while_one_writes_and_others_read() {
    let mut bench = bench();
    let mut reader = pool::connect(&bench.file, PATIENCE).unwrap();
    let (mut times, mut written, mut before) = (0, 0, 0);
    while times < 2 {
        reader.batch_execute("BEGIN; SELECT count(*) FROM clients").unwrap();
        bench.write(200);
        // When one commit ends, somebody is reading the state before it; when the next one ends, nobody is.
        reader.batch_execute("COMMIT").unwrap();
        bench.write(200);
        let now = bench.log().frames;
        if now < before {
            times += 1;
        } else {
            written += now - before;
        }
        before = now;
        assert!(
            written < 10 * WRITER_CHECKPOINT,
            "{written} frames were written, and it began {times} times"
        );
    }
}

#[test]
fn what_was_copied_is_on_disk_before_it_may_be_overwritten() {
    #[derive(QueryableByName)]
    struct Setting {
        #[diesel(sql_type = Integer)]
        synchronous: i32,
    }
    let bench = bench();
    let mut connection = pool::connect_checkpointer(&bench.file, &SqliteOptions::default()).unwrap();
    let setting: Setting = diesel::sql_query("PRAGMA synchronous").get_result(&mut connection).unwrap();
    const FULL: i32 = 2;
    assert_eq!(setting.synchronous, FULL);
}

#[test]
fn after_a_failure_it_looks_again_with_a_new_connection() {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(&folder.path().join("later/test.db")).unwrap();
    let mut witness = None;
    let looks = (0..2).map(|look| {
        if look == 1 {
            migrate::run(&file).unwrap();
            let mut other = pool::connect(&file, PATIENCE).unwrap();
            other.batch_execute("PRAGMA wal_autocheckpoint = 0; CREATE TABLE pages (data BLOB);").unwrap();
            other.batch_execute(&pages(WORTH_COPYING)).unwrap();
            witness = Some(other);
        }
    });
    run(&file, &SqliteOptions::default(), looks);
    let log = Log::look(&mut witness.unwrap()).unwrap();
    assert_eq!((log.left(), log.frames >= WORTH_COPYING), (0, true));
}

#[test]
fn the_executor_ends_it_and_waits_until_its_connection_is_closed() {
    for pages in [0, 100, WORTH_COPYING] {
        let mut bench = bench();
        if pages > 0 {
            bench.write(pages);
        }
        let log_file = bench.log_file();
        let Bench { _folder, executor, witness, .. } = bench;
        drop(witness);
        assert!(log_file.exists());
        drop(executor);
        // The last connection to be closed removes the log.
        assert!(!log_file.exists(), "after {pages} pages");
    }
}
