//! A restore that is interrupted or fails leaves what was there.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use countersign_tests::server::signal;
use countersign_tests::{Database, clock, on_both};

use super::{empty_beside, noted, path, refused, restoring, with_secret};

/// So many users that a restore takes a while.
const MANY: u32 = 30_000;

fn many(database: &Database) {
    database.change(&if database.is_postgres() {
        format!("INSERT INTO users (id, created_at) SELECT gen_random_uuid(), now() FROM generate_series(1, {MANY})")
    } else {
        format!(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {MANY}) \
             INSERT INTO users (id, created_at) SELECT randomblob(16), 1764633600000000 + n FROM n"
        )
    });
}

/// A database with data, which is not that of the backup beside it.
fn saved(database: &Database) -> std::path::PathBuf {
    let mut server = database.start();
    server.tokens(&server.register());
    assert!(server.terminate().success());
    many(database);
    let file = database.folder().join("many.backup");
    database.operate(&["backup", path(&file)]);
    database.change("DELETE FROM users WHERE id NOT IN (SELECT user_id FROM wallets)");
    file
}

fn lists_users(database: &Database) -> bool {
    database.operator(&["user", "list"]).output().unwrap().status.success()
}

on_both! {
    /// F4: Ctrl+C, a supervisor, a terminal that was closed.
    fn s_17_a_signal_undoes_a_restore(database) {
        let file = saved(database);
        let before = database.rows();
        let mut undone = 0;
        for (round, name) in ["INT", "TERM", "HUP", "INT", "TERM", "HUP"].into_iter().enumerate() {
            let child = restoring(database, database, &["restore", path(&file), "--force"])
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            thread::sleep(Duration::from_millis(150 + 120 * u64::try_from(round).unwrap()));
            signal(name, child.id());
            let ended = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            if said.contains(&format!("interrupted by SIG{name}")) {
                assert_eq!(ended.status.code(), Some(1), "{said}");
                undone += 1;
                assert!(lists_users(database), "nothing is locked away");
                assert_eq!(database.rows(), before);
            } else if ended.status.success() {
                break;
            }
        }
        println!("{undone} of 6 were undone");
        assert!(undone > 0, "no signal came while it worked");
    }

    /// F4: what was there is there, and one command makes it usable again.
    fn s_17_after_a_kill_one_command_takes_the_mark_away(database) {
        let file = saved(database);
        let before = database.rows();
        database.change(if database.is_postgres() {
            "INSERT INTO unfinished (work, begun_at) VALUES ('restore', now())"
        } else {
            "INSERT INTO unfinished (work, begun_at) VALUES ('restore', 0)"
        });
        refused(&mut database.operator(&["user", "list"]), "everything that was in it before is there, untouched");
        let shown = database.operator(&["doctor"]).output().unwrap();
        assert!(String::from_utf8_lossy(&shown.stdout).contains("restore --undo"), "the doctor knows it");
        assert_eq!(database.operate(&["restore", "--undo"])["undone"], true);
        assert!(lists_users(database));
        assert_eq!(database.rows(), before);
        assert_eq!(database.operate(&["restore", "--undo"])["undone"], false, "nothing to undo");
        let mut child = restoring(database, database, &["restore", path(&file), "--force"]).spawn().unwrap();
        thread::sleep(Duration::from_millis(400));
        signal("KILL", child.id());
        child.wait().unwrap();
        let undone = database.operator(&["restore", "--undo"]).output().unwrap();
        if undone.status.success() {
            assert!(lists_users(database));
        }
    }

    /// F6: neither files nor tables are left where there were none.
    fn s_17_a_restore_that_is_undone_leaves_nothing_where_there_was_nothing(database) {
        let file = saved(database);
        let mut undone = 0;
        for wait in [50, 100, 200, 350, 500] {
            let target = empty_beside(database);
            let child =
                restoring(database, &target, &["restore", path(&file)]).stderr(Stdio::piped()).spawn().unwrap();
            thread::sleep(Duration::from_millis(wait));
            signal("INT", child.id());
            if child.wait_with_output().unwrap().status.success() {
                break;
            }
            undone += 1;
            let asked = with_secret(database, target.operator(&["user", "list"])).output().unwrap();
            let said = String::from_utf8_lossy(&asked.stderr).into_owned();
            assert!(said.contains("there is no database") || said.contains("nothing of Countersign"), "{said}");
            if !target.is_postgres() {
                let left: Vec<_> =
                    std::fs::read_dir(target.folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
                assert!(left.is_empty(), "{left:?}");
            }
        }
        println!("{undone} of 5 were undone");
        assert!(undone > 0, "no signal came while it worked");
    }

    /// F2: what a server writes by its own start is no data.
    fn s_15_a_database_on_which_a_server_only_started_counts_as_empty(database) {
        let file = saved(database);
        let target = empty_beside(database);
        let started = with_secret(database, target.operator(&["migrate"])).output().unwrap();
        assert!(started.status.success());
        let mut server = crate::saved::serve(database, &target, "http://127.0.0.1:9");
        assert!(server.terminate().success());
        let done = restoring(database, &target, &["restore", path(&file)]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// F3: a clock that is ahead never overwrites a live server, with tokens kept or not.
    fn s_16_a_restore_whose_clock_is_ahead_sees_the_server_that_runs(database) {
        let server = noted(database);
        let file = database.folder().join("one.backup");
        database.operate(&["backup", path(&file)]);
        for off in [90, 20 * 60, -90] {
            let mut ahead = restoring(database, database, &["restore", path(&file), "--force", "--keep-tokens"]);
            ahead.envs(clock::off_by(off));
            let output = ahead.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success(), "{off}: {said}");
            assert!(said.contains("a server runs on the target") || said.contains("a clock is wrong"), "{off}: {said}");
        }
        server.userinfo("none").expect(401);
    }

    /// F3: that a server was seen in the future is said, and can be overridden.
    fn s_16_a_server_seen_in_the_future_is_a_fault_of_a_clock(database) {
        let mut server = noted(database);
        let file = database.folder().join("one.backup");
        database.operate(&["backup", path(&file)]);
        server.kill9();
        database.change(if database.is_postgres() {
            "UPDATE replicas SET seen_at = seen_at + interval '1 day'"
        } else {
            "UPDATE replicas SET seen_at = seen_at + 86400000000"
        });
        refused(&mut restoring(database, database, &["restore", path(&file), "--force"]), "a clock is wrong");
        let arguments = ["restore", path(&file), "--force", "--servers-are-stopped"];
        let done = restoring(database, database, &arguments).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// F11, F3: servers that stood still accept nothing of the epoch before, from the first request on, and stop. With tokens kept, too.
    fn s_16_a_server_that_slept_through_a_restore_looks_before_it_answers(database) {
        for flags in [&["--force"][..], &["--force", "--keep-tokens"]] {
            let mut server = noted(database);
            let client = server.register();
            let tokens = server.tokens(&client);
            server.userinfo(&tokens.access).expect(200);
            let file = database.folder().join(format!("{}.backup", flags.len()));
            database.operate(&["backup", path(&file)]);
            server.signal("STOP");
            // As if a minute had passed.
            database.change("DELETE FROM replicas");
            thread::sleep(Duration::from_secs(11));
            let arguments = [&["restore", path(&file)][..], flags].concat();
            let done = restoring(database, database, &arguments).output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            server.signal("CONT");
            let first = server.userinfo(&tokens.access);
            assert_eq!(first.status, 503, "{flags:?}");
            assert!(server.ends_within(Duration::from_secs(60)), "the server goes on");
        }
    }
}

/// F7: restored by root, in a folder of the service.
#[test]
fn s_17_what_root_restores_belongs_to_the_owner_of_the_folder() {
    let database = Database::sqlite();
    let owner = 12_345;
    if std::os::unix::fs::chown(database.folder(), Some(owner), Some(owner)).is_err() {
        println!("only root can try this");
        return;
    }
    let file = database.folder().join("one.backup");
    database.operate(&["backup", path(&file)]);
    let target = database.sibling();
    std::os::unix::fs::chown(target.folder(), Some(owner), Some(owner)).unwrap();
    let done = restoring(&database, &target, &["restore", path(&file)]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for entry in std::fs::read_dir(target.folder()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().uid(), owner, "{:?}", entry.path());
    }
}

/// F9: on a terminal the last words stand on a line of their own.
#[test]
fn s_17_the_last_line_on_a_terminal_is_a_line() {
    let database = Database::sqlite();
    let file = saved(&database);
    let target = database.sibling();
    let command = restoring(&database, &target, &["restore", path(&file)]);
    let line: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let mut script = Command::new("script");
    script.args(["-qec", &line.join(" "), "/dev/null"]).current_dir(target.folder());
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let shown = String::from_utf8_lossy(&script.output().unwrap().stdout).into_owned();
    let last = shown.lines().find(|line| line.contains("restored ")).unwrap_or_else(|| panic!("{shown}"));
    let before = last.split("restored ").next().unwrap();
    assert!(before.is_empty() || before.ends_with("\u{1b}[K"), "{last:?}");
}

/// F11: no password has to stand in a command line.
#[test]
fn s_17_copy_reads_urls_from_files() {
    let (source, target) = (Database::sqlite(), Database::new_postgres());
    let files = [("from_url", source.url()), ("to_url", target.url())];
    for (name, url) in &files {
        std::fs::write(source.folder().join(name), format!("{url}\n")).unwrap();
    }
    let arguments = ["copy", "--from-file", "from_url", "--to-file", "to_url"];
    let done = Command::new(countersign_tests::server::binary())
        .current_dir(source.folder())
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(target.number("SELECT count(*) FROM signing_keys") > 0);
}
