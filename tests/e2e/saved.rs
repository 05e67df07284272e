//! `backup`, `restore` and `copy`: what was acknowledged is saved, what comes back is what was saved, and whatever goes
//! wrong in between leaves things as they were.

mod foreign;
mod rights;
mod undone;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::load::Load;
use countersign_tests::server::{OPERATOR_SECRET, binary, signal};
use countersign_tests::{Database, Server, Tokens, Wallet, on_both};
use serde_json::Value;

use crate::events::wait_for;

const THREADS: usize = 4;

/// How often a server is saved under load. `make backups` does it 50 times.
fn rounds() -> usize {
    std::env::var("BACKUPS").map_or(2, |rounds| rounds.parse().unwrap())
}

on_both! {
    /// D-26: whatever was acknowledged before a backup began is in it, and the backup is whole, whatever happens meanwhile.
    fn a_backup_under_load_has_everything_that_was_acknowledged_before(database) {
        let server = database.start();
        let mut ledgers = Vec::new();
        for round in 0..rounds() {
            let before = Load::start(&[server.site()], THREADS);
            before.wait_for(100);
            ledgers.push(before.stop());
            let meanwhile = Load::start(&[server.site()], THREADS);
            meanwhile.wait_for(20);
            let file = database.folder().join(format!("{round}.backup"));
            let begun = Instant::now();
            let saved = database.operate(&["backup", path(&file)]);
            println!("round {round}: {} rows, {} bytes, {:?}", saved["rows"], saved["bytes"], begun.elapsed());
            assert_eq!(meanwhile.stop().unavailable(), 0, "nothing is refused because of a backup");
            let restored = restored_beside(database, &file, &["--keep-tokens"]);
            let beside = serve(database, &restored, &server.public_url);
            for ledger in &ledgers {
                ledger.hold_against(&beside);
            }
        }
    }

    /// D-26: what was handed out before is refused after a restore; people and clients are what they were.
    fn after_a_restore_everybody_signs_in_again_and_is_who_they_were(database) {
        let server = database.start();
        let client = server.register();
        let wallet = Wallet::fresh();
        let code = server.browser().sign_in(&client, &wallet);
        let unused = server.sign_in(&client);
        let tokens = Tokens::of(server.exchange(&client, &code).expect(200));
        let subject = server.userinfo(&tokens.access).expect(200).field("sub");
        let file = database.folder().join("one.backup");
        database.operate(&["backup", path(&file)]);
        let restored = restored_beside(database, &file, &[]);
        let beside = serve(database, &restored, &server.public_url);
        assert_eq!(beside.refresh(&client, &tokens.refresh).verdict(), "400 invalid_grant");
        assert_eq!(beside.exchange(&client, &unused).verdict(), "400 invalid_grant");
        assert_eq!(beside.userinfo(&tokens.access).status, 401);
        let code = beside.browser().sign_in(&client, &wallet);
        let again = Tokens::of(beside.exchange(&client, &code).expect(200));
        assert_eq!(beside.userinfo(&again.access).expect(200).field("sub"), subject, "the same user");
        let kinds: Vec<Value> = restored.operate(&["event", "list", "--type", "restored"]).as_array().unwrap().clone();
        assert_eq!(kinds.len(), 1, "{kinds:?}");
    }

    /// Every refusal is one line, and changes nothing.
    fn what_cannot_be_restored_is_refused_with_one_line_and_nothing_changes(database) {
        let mut server = noted(database);
        server.tokens(&server.register());
        let folder = database.folder().to_owned();
        let file = folder.join("good.backup");
        database.operate(&["backup", path(&file)]);
        let good = fs::read(&file).unwrap();
        refused(&mut database.operator(&["backup", path(&file)]), "exists; a backup overwrites nothing");
        assert_eq!(fs::read(&file).unwrap(), good);
        refused(&mut database.operator(&["restore", path(&file), "--force"]), "a server runs on the target");
        assert!(server.terminate().success());
        refused(&mut database.operator(&["restore", path(&file)]), "target");
        let empty = empty_beside(database);
        let nothing = empty.is_postgres().then(|| empty.dump());
        let bad = folder.join("bad.backup");
        let mut tried = 0;
        let mut refuses = |content: &[u8], words: &str| {
            fs::write(&bad, content).unwrap();
            refused(&mut restoring(database, &empty, &["restore", path(&bad)]), words);
            tried += 1;
        };
        for end in (0..good.len()).step_by(good.len() / 12) {
            refuses(&good[..end], "backup");
        }
        for place in (30..good.len()).step_by(good.len() / 12) {
            let mut damaged = good.clone();
            damaged[place] ^= 0x55;
            refuses(&damaged, "the backup is");
        }
        refuses(b"SQLite format 3\0 and more", "it is not a backup of Countersign");
        refuses(b"countersign backup, format 9\n", "this release reads format 1");
        println!("{tried} files refused");
        let mut wrong_secret = restoring(database, &empty, &["restore", path(&file)]);
        wrong_secret.env_remove("COUNTERSIGN_SECRET_FILE").env("COUNTERSIGN_SECRET", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
        refused(&mut wrong_secret, "belongs to another secret");
        let full = format!("ulimit -f 4; exec \"$0\" backup {}", path(&folder.join("full.backup")));
        let mut limited = Command::new("sh");
        limited.args(["-c", &full]).arg(binary()).current_dir(&folder).env("COUNTERSIGN_DATABASE_URL", database.url());
        if database.is_postgres() {
            limited.env("COUNTERSIGN_SECRET", OPERATOR_SECRET);
        }
        assert!(!limited.output().unwrap().status.success());
        assert!(!folder.join("full.backup").exists(), "nothing that looks like a backup is left");
        match nothing {
            Some(nothing) => assert_eq!(empty.dump(), nothing),
            None => assert!(!empty.folder().join("countersign.db").exists(), "nothing was created"),
        }
        let done = restoring(database, &empty, &["restore", path(&file)]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// `kill -9` at any time: the source is as it was, and the target is empty and says why it cannot be used, or complete.
    fn a_killed_restore_leaves_a_target_that_nothing_takes_for_finished(database) {
        let mut server = database.start();
        let load = Load::start(&[server.site()], THREADS);
        load.wait_for(300);
        let ledger = load.stop();
        let file = database.folder().join("one.backup");
        database.operate(&["backup", path(&file)]);
        assert!(server.terminate().success());
        let target = empty_beside(database);
        let (mut unfinished, mut complete) = (0, 0);
        for round in 0..rounds() * 6 {
            let arguments = ["restore", path(&file), "--force", "--keep-tokens"];
            let mut child = restoring(database, &target, &arguments).spawn().unwrap();
            thread::sleep(Duration::from_millis(20 + 35 * u64::try_from(round % 12).unwrap()));
            signal("KILL", child.id());
            child.wait().unwrap();
            let asked = with_secret(database, target.operator(&["user", "list"])).output().unwrap();
            let said = String::from_utf8_lossy(&asked.stderr).into_owned();
            if asked.status.success() {
                complete += 1;
            } else if said.contains("a restore did not finish filling this database") {
                unfinished += 1;
            } else {
                assert!(said.contains("there is no database") || said.contains("nothing of Countersign"), "{said}");
            }
        }
        println!("killed {} times: {unfinished} unfinished, {complete} complete", rounds() * 6);
        let done = restoring(database, &target, &["restore", path(&file), "--force", "--keep-tokens"]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        ledger.hold_against(&serve(database, &target, &server.public_url));
    }
}

/// SQLite to PostgreSQL and back: the same rows, and refresh tokens go on working. `make copy-many` does it with a million
/// users.
#[test]
fn a_copy_to_the_other_kind_of_database_and_back_is_the_same() {
    let (first, second, third) = (Database::sqlite(), Database::new_postgres(), Database::new_sqlite());
    let mut server = noted(&first);
    let client = server.register();
    let load = Load::start(&[server.site()], THREADS);
    load.wait_for(300);
    let ledger = load.stop();
    let tokens = server.tokens(&client);
    refused(&mut copying(&first, &second, &[]), "a server runs on the source");
    assert!(server.terminate().success());
    many_users(&first);
    let (begun, rows) = (Instant::now(), first.number("SELECT count(*) FROM users"));
    for (from, to) in [(&first, &second), (&second, &third)] {
        let copied = copying(from, to, &["--output", "json"]).output().unwrap();
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        println!("{} after {:?}", String::from_utf8_lossy(&copied.stdout).trim(), begun.elapsed());
        assert_eq!(to.number("SELECT count(*) FROM users"), rows);
    }
    refused(&mut copying(&first, &third, &[]), "there is data in the target");
    let files = [&first, &third].map(|database| {
        let file = database.folder().join("same.backup");
        if !std::ptr::eq(database, &raw const first) {
            fs::copy(secret_file(&first), secret_file(database)).unwrap();
        }
        database.operate(&["backup", path(&file)]);
        sums(&file)
    });
    assert_eq!(files[0], files[1], "the sums of every table");
    for database in [&second, &third] {
        let server = serve(&first, database, &server.public_url);
        ledger.hold_against(&server);
        if !database.is_postgres() {
            server.refresh(&client, &tokens.refresh).expect(200);
        }
    }
}

/// `kill -9` of a copy at any time.
#[test]
fn a_killed_copy_leaves_the_source_as_it_was() {
    let (source, target) = (Database::sqlite(), Database::new_postgres());
    let mut server = source.start();
    let load = Load::start(&[server.site()], THREADS);
    load.wait_for(200);
    load.stop();
    assert!(server.terminate().success());
    let before = source.rows();
    for round in 0..rounds() * 4 {
        let mut child = copying(&source, &target, &["--force"]).spawn().unwrap();
        thread::sleep(Duration::from_millis(30 + 40 * u64::try_from(round % 8).unwrap()));
        signal("KILL", child.id());
        child.wait().unwrap();
        assert_eq!(source.rows(), before);
    }
    let done = copying(&source, &target, &["--force"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(target.number("SELECT count(*) FROM users"), source.number("SELECT count(*) FROM users"));
}

/// Starts a server, and waits until it wrote down that it runs.
fn noted(database: &Database) -> Server {
    let server = database.start();
    wait_for("the server to say that it runs", || database.number("SELECT count(*) FROM replicas") > 0);
    server
}

/// Puts as many users there as `COPIED_USERS` says, with a wallet each.
fn many_users(database: &Database) {
    let many: u32 = std::env::var("COPIED_USERS").map_or(2_000, |users| users.parse().unwrap());
    database.change(&format!(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {many}) \
         INSERT INTO users (id, created_at) SELECT unhex(printf('%032x', n)), 1764633600000000 + n FROM n; \
         INSERT INTO wallets (family, address, user_id, linked_at, chain) \
         SELECT 'ethereum', printf('0x%040x', row_number() OVER (ORDER BY id)), id, created_at, 'eip155:1' FROM users \
         WHERE id < unhex(printf('%032x', {many} + 1))"
    ));
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn secret_file(database: &Database) -> PathBuf {
    database.folder().join("countersign.db.secret")
}

/// Gives a command the secret of another database, if that one is in a file.
fn with_secret(of: &Database, mut command: Command) -> Command {
    if !of.is_postgres() {
        command.env("COUNTERSIGN_SECRET_FILE", secret_file(of)).env_remove("COUNTERSIGN_SECRET");
    }
    command
}

/// An empty database of the same kind, for the secret of this one.
fn empty_beside(database: &Database) -> Database {
    database.sibling()
}

fn restoring(from: &Database, into: &Database, arguments: &[&str]) -> Command {
    with_secret(from, into.operator(arguments))
}

pub(crate) fn restored_beside(database: &Database, file: &Path, flags: &[&str]) -> Database {
    let restored = empty_beside(database);
    let arguments = [&["restore", path(file)][..], flags].concat();
    let done = restoring(database, &restored, &arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    if !database.is_postgres() {
        fs::copy(secret_file(database), secret_file(&restored)).unwrap();
    }
    restored
}

/// Starts a server on a database with the secret of another, and its public URL: access tokens are for that alone.
pub(crate) fn serve(of: &Database, on: &Database, public_url: &str) -> Server {
    let server = on.server().with_public_url(public_url);
    if of.is_postgres() {
        return server.start();
    }
    let secret = fs::read_to_string(secret_file(of)).unwrap();
    if !on.is_postgres() {
        fs::write(secret_file(on), &secret).unwrap();
        make_private(&secret_file(on));
        return server.start();
    }
    server.with_env("COUNTERSIGN_SECRET", secret.trim()).start()
}

fn make_private(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

fn copying(from: &Database, to: &Database, flags: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(from.folder()).args(["copy", "--from", &from.url(), "--to", &to.url()]).args(flags);
    command
}

/// Fails unless the command is refused with one line that has these words.
#[track_caller]
fn refused(command: &mut Command, words: &str) {
    let Output { status, stderr, stdout } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stderr);
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("countersign: database ")).collect();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(lines.len() == 1 && lines[0].contains(words), "{words}: {said}");
    assert_eq!(stdout, b"");
}

/// The lines that end the tables of a backup.
fn sums(file: &Path) -> Vec<String> {
    let content = fs::read(file).unwrap();
    let start = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let compressed = file.with_extension("zst");
    fs::write(&compressed, &content[start..]).unwrap();
    let shown = Command::new("zstd").args(["-dc", path(&compressed)]).output().unwrap();
    assert!(shown.status.success(), "zstd is needed: {}", String::from_utf8_lossy(&shown.stderr));
    let text = String::from_utf8(shown.stdout).unwrap();
    text.lines().filter(|line| line.starts_with("{\"end\"")).map(str::to_owned).collect()
}

/// How long others wait while backups are made one after the other. Judged by `make backups` alone: in the normal run other
/// tests take the processor.
#[test]
fn others_hardly_wait_because_of_a_backup() {
    let is_judged = std::env::var_os("BACKUPS").is_some();
    let time = Duration::from_secs(if is_judged { 20 } else { 1 });
    for database in [Database::sqlite(), Database::postgres()] {
        let server = database.start();
        let client = server.register();
        let load = Load::start(&[server.site()], 2);
        load.wait_for(if is_judged { 5_000 } else { 50 });
        let refresh_for = |time: Duration| {
            let (end, mut waits) = (Instant::now() + time, Vec::new());
            let mut token = server.tokens(&client).refresh;
            while Instant::now() < end {
                let asked = Instant::now();
                token = Tokens::of(server.refresh(&client, &token)).refresh;
                waits.push(asked.elapsed());
            }
            waits.sort_unstable();
            waits[waits.len() * 99 / 100]
        };
        let before = refresh_for(time);
        let (meanwhile, backups) = thread::scope(|scope| {
            let measured = scope.spawn(|| refresh_for(time));
            let mut backups = 0;
            while !measured.is_finished() {
                let file = database.folder().join(format!("{backups}.backup"));
                database.operate(&["backup", path(&file)]);
                fs::remove_file(&file).unwrap();
                backups += 1;
            }
            (measured.join().unwrap(), backups)
        });
        load.stop();
        println!("{}: p99 {before:?}, during {backups} backups {meanwhile:?}", database.url());
        assert!(
            !is_judged || meanwhile < before * 2 + Duration::from_millis(5),
            "{meanwhile:?} after {before:?}"
        );
    }
}
