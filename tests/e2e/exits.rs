//! How programs end (F-29): with the status that they promise, and never by a signal. A thread that is still at work
//! in libpq while the process ends would crash it, now and then, and most often where connections take long: with
//! passwords and TLS, on a busy machine.

use std::hint::spin_loop;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use countersign_test_postgres::Cluster;
use countersign_tests::server::{OPERATOR_SECRET, ended_within, signal};
use countersign_tests::{Database, on_both};

/// How many commands run at the same time.
const AT_ONCE: usize = 4;

/// How many commands run in all. `make exits` runs 2,000.
fn runs() -> usize {
    std::env::var("EXITS").map_or(160, |runs| runs.parse().unwrap())
}

/// Short commands that open the database, and how each ends. Some fail.
const COMMANDS: [(&[&str], i32); 12] = [
    (&["user", "list"], 0),
    (&["client", "list"], 0),
    (&["group", "show", "none"], 1),
    (&["key", "list"], 0),
    (&["migrate"], 0),
    (&["event", "list"], 0),
    (&["event", "verify"], 0),
    (&["client", "show", "00000000-0000-4000-8000-000000000000"], 1),
    (&["export"], 0),
    (&["backup", "-"], 0),
    (&["wallet", "list", "--limit", "0"], 2),
    (&["resource", "delete", "https://none.example"], 1),
];

/// Keeps every processor busy until it is dropped.
struct Busy {
    over: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Busy {
    fn begin() -> Self {
        let over = Arc::<AtomicBool>::default();
        let processors = thread::available_parallelism().unwrap().get();
        let threads = (0..processors).map(|_| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    spin_loop();
                }
            })
        });
        Self { threads: threads.collect(), over }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// A database whose servers and commands need TLS and a password.
fn secured() -> Database {
    let cluster = Arc::new(Cluster::start());
    let (url, parameters) = cluster.secure();
    // A backup gives way to everything else, and here everything else is busy.
    let patient = format!("{parameters}&connect_timeout=30");
    let database = Database::reached_by(&cluster, |name| format!("{url}{name}{patient}"));
    assert!(database.operator(&["migrate"]).output().unwrap().status.success());
    // It makes the keys.
    assert!(database.start().terminate().success());
    database
}

/// What is wrong with how a command ended.
fn fault(ended: &Output, expected: i32) -> Option<String> {
    let said = String::from_utf8_lossy(&ended.stderr);
    let is_ours = said.lines().all(|line| line.starts_with("countersign: ") || line.starts_with("  "));
    let is_right =
        ended.status.code() == Some(expected) && (is_ours || expected == 2) && !said.contains("WARN");
    (!is_right).then(|| format!("{}: {said}", ended.status))
}

#[test]
fn f_29_short_commands_end_without_a_crash_or_a_warning() {
    let database = secured();
    let (next, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let busy = Busy::begin();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let number = next.fetch_add(1, Ordering::Relaxed)
                    && number < runs()
                {
                    let (arguments, expected) = COMMANDS[number % COMMANDS.len()];
                    let ended = database.operator(arguments).output().unwrap();
                    if let Some(fault) = fault(&ended, expected) {
                        wrong.fetch_add(1, Ordering::Relaxed);
                        println!("{arguments:?}: {fault}");
                    }
                }
            });
        }
    });
    drop(busy);
    let wrong = wrong.into_inner();
    println!("{} commands ended, {wrong} of them wrongly", runs());
    assert_eq!(wrong, 0);
}

#[test]
fn f_29_a_database_that_hangs_crashes_no_command() {
    let cluster = Arc::new(Cluster::start());
    let (url, parameters) = cluster.secure();
    let database = Database::reached_by(&cluster, |name| format!("{url}{name}{parameters}"));
    assert!(database.operator(&["migrate"]).output().unwrap().status.success());
    let mut server = database.start();
    let commands: Vec<_> =
        [&["user", "list"][..], &["migrate"], &["doctor"], &["key", "list"], &["event", "list", "--follow"]]
            .into_iter()
            .map(|arguments| (arguments, database.operator(arguments)))
            .collect();
    // Some are in the middle of something, others are just beginning.
    let running: Vec<_> = commands
        .into_iter()
        .map(|(arguments, mut command)| {
            let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            thread::sleep(Duration::from_millis(15));
            (arguments, child)
        })
        .collect();
    cluster.pause();
    for (arguments, mut child) in running {
        let patience = Duration::from_secs(if arguments.contains(&"--follow") { 3 } else { 20 });
        // What was asked before the schema was known has no deadline, because a migration has none.
        let ended = ended_within(&mut child, patience).unwrap_or_else(|| {
            signal("TERM", child.id());
            ended_within(&mut child, Duration::from_secs(20))
                .unwrap_or_else(|| panic!("{arguments:?} does not end"))
        });
        assert!(matches!(ended.signal(), None | Some(15)), "{arguments:?}: {ended}");
    }
    // The first signal lets it finish, and the second one does not.
    server.signal("TERM");
    thread::sleep(Duration::from_millis(1500));
    let ended = server.terminate();
    cluster.resume();
    assert_eq!((ended.code(), ended.signal()), (Some(1), None));
}

#[test]
fn f_29_a_server_that_is_stopped_at_any_time_ends_by_itself() {
    let database = secured();
    thread::scope(|scope| {
        for first in 0..AT_ONCE {
            let database = &database;
            scope.spawn(move || {
                for round in 0..5 {
                    let mut command = serve(database);
                    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
                    let patience = 20 * u64::try_from(first + AT_ONCE * round).unwrap();
                    thread::sleep(Duration::from_millis(patience));
                    signal("TERM", child.id());
                    let ended = child.wait_with_output().unwrap();
                    let said = String::from_utf8_lossy(&ended.stderr);
                    // Before it listens to signals, it ends by this one.
                    let is_right = matches!(
                        (ended.status.code(), ended.status.signal()),
                        (Some(0), None) | (None, Some(15))
                    );
                    assert!(is_right, "after {patience} ms: {}: {said}", ended.status);
                }
            });
        }
    });
}

fn serve(database: &Database) -> Command {
    let mut command = database.operator(&["serve"]);
    command.env("COUNTERSIGN_SECRET", OPERATOR_SECRET).env("COUNTERSIGN_BIND", "127.0.0.1:0");
    command
}

on_both! {
    /// Whatever a command does, it says when its output could not be written.
    fn a_command_whose_output_is_lost_fails_and_says_so(database) {
        drop(database.start());
        for arguments in printing() {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let ended = database.operator(arguments).stdout(full).output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {said}");
            assert!(said.contains("No space left on device"), "{arguments:?}: {said}");
        }
    }

    /// As `head -1` does, which has all that it wants.
    fn a_command_whose_reader_went_away_ends_as_quietly_as_other_programs(database) {
        drop(database.start());
        // Half a backup is nothing to be quiet about.
        for arguments in printing().into_iter().filter(|arguments| arguments[0] != "backup") {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let ended = database.operator(arguments).stdout(writer).output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(141), "{arguments:?}: {said}");
            assert!(said.lines().all(|line| line.starts_with("countersign: database ")), "{arguments:?}: {said}");
        }
    }
}

/// Commands that succeed, and print something.
fn printing() -> Vec<&'static [&'static str]> {
    let others: [&[&str]; 8] = [
        &["check-config"],
        &["openapi"],
        &["openapi", "--admin"],
        &["generate", "settings"],
        &["generate", "completions", "bash"],
        &["doctor"],
        &["--help"],
        &["--version"],
    ];
    let of_database =
        COMMANDS.into_iter().filter(|(_, expected)| *expected == 0).map(|(arguments, _)| arguments);
    of_database.chain(others).collect()
}
