//! What is special about SQLite: the file, its schema, and many callers at once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and so do its helpers")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Barrier};
use std::thread;

use countersign_adapters_sqlite::{
    FileError, Found, MigrateError, OpenError, SqliteArchive, SqliteOptions, SqliteStorage, examine, look,
    migrate, revert_all,
};
use countersign_conformance::fixtures;
use countersign_domain::id::{GrantId, UserId};
use countersign_ports::{
    AccountStore, ClientStore, LoginStore, Redeemed, RegisterClient, SessionStore, StoreError, TokenStore,
    Upkeep, WalletStore, WalletUnlinked,
};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("countersign.db");
    (folder, path)
}

fn open(path: &Path) -> SqliteStorage {
    SqliteStorage::open(path, SqliteOptions::default()).unwrap()
}

/// A connection for the test itself. It waits like everybody else: a pool that was dropped closes a little
/// later, and the last connection to close has the file alone for a moment.
fn connect(path: &Path) -> SqliteConnection {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA busy_timeout = 5000").unwrap();
    connection
}

#[derive(QueryableByName, Debug, PartialEq, Eq)]
struct Definition {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Nullable<Text>)]
    sql: Option<String>,
}

fn schema(path: &Path) -> Vec<Definition> {
    diesel::sql_query("SELECT name, sql FROM sqlite_schema ORDER BY name").load(&mut connect(path)).unwrap()
}

fn integrity(path: &Path) -> String {
    diesel::sql_query("SELECT integrity_check AS name, NULL AS sql FROM pragma_integrity_check")
        .get_result::<Definition>(&mut connect(path))
        .unwrap()
        .name
}

#[test]
fn up_down_and_up_again_give_the_same_schema() {
    let (_folder, path) = place();
    let ran = migrate(&path).unwrap();
    let first = schema(&path);
    assert_eq!(ran.first().map(String::as_str), Some("2026-11-22-000001_clients"));
    assert!(migrate(&path).unwrap().is_empty(), "nothing is left to do");

    let mut reverted = revert_all(&path).unwrap();
    reverted.reverse();
    assert_eq!(reverted, ran);
    let left: Vec<_> =
        schema(&path).into_iter().filter(|one| one.sql.is_some()).map(|one| one.name).collect();
    assert_eq!(left, ["__diesel_schema_migrations"]);

    assert_eq!(migrate(&path).unwrap(), ran);
    assert_eq!(schema(&path), first);
}

#[test]
fn d_30_a_schema_that_is_newer_than_the_program_still_serves_it() {
    let (_folder, path) = place();
    migrate(&path).unwrap();
    connect(&path)
        .batch_execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('29991231000001')")
        .unwrap();
    assert_eq!(migrate(&path).unwrap(), Vec::<String>::new());
    SqliteStorage::open(&path, SqliteOptions::default()).unwrap();
}

/// Records that migrations ran, as builds before the first release did: those that ours replace.
fn record(path: &Path, versions: &[&str]) {
    let values: Vec<_> = versions.iter().map(|version| format!("('{version}')")).collect();
    let values = values.join(", ");
    let statements = format!(
        "CREATE TABLE IF NOT EXISTS __diesel_schema_migrations \
        (version VARCHAR(50) PRIMARY KEY NOT NULL, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP); \
        INSERT INTO __diesel_schema_migrations (version) VALUES {values} ON CONFLICT DO NOTHING"
    );
    connect(path).batch_execute(&statements).unwrap();
}

#[test]
fn a_database_of_the_last_build_before_the_first_release_is_used_as_it_is() {
    let (_folder, path) = place();
    migrate(&path).unwrap();
    record(&path, &["20261121000001", "20261122000002", "20261126000001", "20261203000006"]);
    assert_eq!(migrate(&path).unwrap(), Vec::<String>::new());
    let examined = examine(&path).unwrap();
    assert_eq!((examined.missing, examined.newer, examined.absent), (Vec::new(), Vec::new(), Vec::new()));
    assert_eq!(look(&path).unwrap(), Found::Ours);
    SqliteStorage::open(&path, SqliteOptions::default()).unwrap();
}

#[test]
fn a_database_of_an_earlier_build_is_refused_and_left_as_it_was() {
    let (_folder, path) = place();
    connect(&path)
        .batch_execute("CREATE TABLE clients (id BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID")
        .unwrap();
    record(&path, &["20261121000001", "20261122000001", "20261123000001"]);
    let before = schema(&path);
    let refused = migrate(&path).unwrap_err();
    assert!(matches!(refused, MigrateError::TooOld(_)), "{refused:?}");
    assert!(refused.to_string().contains("before the first release"), "{refused}");
    assert!(SqliteStorage::open(&path, SqliteOptions::default()).is_err());
    assert_eq!(schema(&path), before);
    let refused = SqliteArchive::open(&path);
    assert!(refused.is_err_and(|refused| refused.to_string().contains("before the first release")));
}

/// Exactly what the first release writes for a new wallet and its first login.
const OLD_LOGIN: &str = "\
    INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, nonce, code_challenge, \
      code_hash, authenticated_at, code_expires_at, forget_after) \
    VALUES (zeroblob(16), zeroblob(16), coalesce((SELECT user_id FROM wallets WHERE family = 'eip155' \
      AND address = '0xa'), zeroblob(16)), 'eip155', 'eip155:137', '0xa', 'https://client.example', 'profile', NULL, \
      NULL, zeroblob(32), 0, 0, 0) \
    ON CONFLICT (id) DO NOTHING; \
    INSERT INTO users (id, created_at) VALUES (zeroblob(16), 0) ON CONFLICT (id) DO NOTHING; \
    INSERT INTO wallets (family, address, user_id, linked_at) VALUES ('eip155', '0xa', zeroblob(16), 0); \
    INSERT INTO wallets (family, address, user_id, linked_at) VALUES ('solana:5eykt', 'b', zeroblob(16), 1);";

#[tokio::test]
async fn d_16_d_30_what_the_release_before_writes_is_read_with_the_chain_of_its_family() {
    let (_folder, path) = place();
    let storage = open(&path);
    connect(&path).batch_execute(OLD_LOGIN).unwrap();
    let wallets = storage.wallets_of(UserId::from_uuid(uuid::Uuid::nil())).await.unwrap();
    let accounts: Vec<_> = wallets.iter().map(|wallet| wallet.account.caip10()).collect();
    assert_eq!(accounts, ["eip155:1:0xa", "solana:5eykt:b"]);
    assert!(wallets.iter().all(|wallet| wallet.name.is_none()));
    let name = fixtures::name_wallet(UserId::from_uuid(uuid::Uuid::nil()), &wallets[0].account, "Savings");
    assert!(storage.name_wallet(name).await.unwrap());

    let command = fixtures::unlink_wallet(&wallets[1].account, &wallets[0].account);
    assert!(matches!(storage.unlink_wallet(command).await.unwrap(), WalletUnlinked::Unlinked { .. }));
    let grant = storage.find_grant(GrantId::from_uuid(uuid::Uuid::nil())).await.unwrap();
    assert!(grant.is_some_and(|grant| grant.revoked));
}

#[tokio::test]
async fn why_the_grants_of_an_unlinked_wallet_were_revoked_is_written_down() {
    let (_folder, path) = place();
    let storage = open(&path);
    let login = fixtures::complete_login();
    let other = fixtures::wallet_account();
    storage.complete_login(login.clone()).await.unwrap();
    storage.link_wallet(fixtures::link_wallet(&login.account, &other)).await.unwrap();
    storage.unlink_wallet(fixtures::unlink_wallet(&other, &login.account)).await.unwrap();
    assert_eq!(revocation_reason(&path).as_deref(), Some("wallet_unlinked"));
}

#[tokio::test]
async fn why_the_grants_of_a_revoked_consent_were_revoked_is_written_down() {
    let (_folder, path) = place();
    let storage = open(&path);
    let login = fixtures::complete_login();
    storage.complete_login(login.clone()).await.unwrap();
    assert!(storage.revoke_consent(fixtures::revoke_consent(login.new_user, login.client)).await.unwrap());
    assert_eq!(revocation_reason(&path).as_deref(), Some("consent_revoked"));
}

/// The reason for which the only grant was revoked.
fn revocation_reason(path: &Path) -> Option<String> {
    diesel::sql_query("SELECT 'reason' AS name, revocation_reason AS sql FROM grants")
        .get_result::<Definition>(&mut connect(path))
        .unwrap()
        .sql
}

#[test]
fn d_16_five_that_open_one_new_file_at_once_all_succeed() {
    for _ in 0..5 {
        let (_folder, path) = place();
        let barrier = Arc::new(Barrier::new(5));
        let openers: Vec<_> = (0..5)
            .map(|_| {
                let (path, barrier) = (path.clone(), Arc::clone(&barrier));
                thread::spawn(move || {
                    barrier.wait();
                    SqliteStorage::open(&path, SqliteOptions::default()).map(drop)
                })
            })
            .collect();
        for opener in openers {
            opener.join().unwrap().unwrap();
        }
        assert_eq!(integrity(&path), "ok");
    }
}

/// The threads of this process that belong to storage. The kernel keeps fifteen characters of their names.
#[cfg(target_os = "linux")]
fn threads_of_storages() -> Vec<String> {
    let names = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|thread| {
        // It may end while it is being read.
        std::fs::read_to_string(thread.ok()?.path().join("comm")).ok()
    });
    let mut names: Vec<_> =
        names.map(|name| name.trim().to_owned()).filter(|name| name.starts_with("sqlite-")).collect();
    names.sort();
    names
}

/// Not a claim by itself. The next test starts this binary with this name, so that no other storage is in the
/// process.
#[cfg(target_os = "linux")]
#[test]
fn a_storage_that_is_alone_in_its_process() {
    let Ok(path) = std::env::var("COUNTERSIGN_TEST_DATABASE") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let gone = || {
        // A thread that was joined is still listed for a moment.
        let begun = std::time::Instant::now();
        while !threads_of_storages().is_empty() && begun.elapsed().as_secs() < 30 {
            thread::yield_now();
        }
        threads_of_storages().is_empty()
    };
    drop(open(Path::new(&path)));
    assert!(gone(), "dropped, and nothing was written: {:?}", threads_of_storages());

    let storage = open(Path::new(&path));
    runtime.block_on(storage.register_client(fixtures::register_client())).unwrap();
    assert_eq!(threads_of_storages(), ["sqlite-checkpoi", "sqlite-writer"]);
    runtime.block_on(storage.shutdown());
    assert!(gone(), "shut down: {:?}", threads_of_storages());
}

#[cfg(target_os = "linux")]
#[test]
fn a_storage_that_is_shut_down_or_dropped_leaves_no_thread() {
    let (_folder, path) = place();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_storage_that_is_alone_in_its_process"])
        .env("COUNTERSIGN_TEST_DATABASE", &path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Not a claim by itself. The next test starts this binary with this name, five times at once.
#[test]
fn one_of_five_processes() {
    let Ok(path) = std::env::var("COUNTERSIGN_TEST_DATABASE") else { return };
    let storage = open(Path::new(&path));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for _ in 0..20 {
            storage.register_client(fixtures::register_client()).await.unwrap();
        }
    });
}

#[tokio::test]
async fn d_16_five_processes_that_start_on_one_new_file_at_once_all_succeed() {
    let (_folder, path) = place();
    let processes: Vec<_> = (0..5)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "one_of_five_processes"])
                .env("COUNTERSIGN_TEST_DATABASE", &path)
                .output_in_background()
        })
        .collect();
    for process in processes {
        let output = process.join().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(open(&path).list_clients(None, 1_000).await.unwrap().len(), 100);
    assert_eq!(integrity(&path), "ok");
}

trait InBackground {
    fn output_in_background(&mut self) -> thread::JoinHandle<std::process::Output>;
}

impl InBackground for Command {
    fn output_in_background(&mut self) -> thread::JoinHandle<std::process::Output> {
        self.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = self.spawn().unwrap();
        thread::spawn(move || child.wait_with_output().unwrap())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn d_09_a_hundred_writers_at_once_are_all_served() {
    let (_folder, path) = place();
    let storage = Arc::new(open(&path));
    let writers: Vec<_> = (0..100)
        .map(|_| {
            let storage = Arc::clone(&storage);
            tokio::spawn(async move {
                for _ in 0..20 {
                    let login = fixtures::complete_login();
                    storage.complete_login(login.clone()).await.unwrap();
                    let redeem = fixtures::redeem_code(login.id);
                    assert_eq!(storage.redeem_code(redeem.clone()).await.unwrap(), Redeemed::Stored);
                    assert!(storage.find_access(redeem.token.id).await.unwrap().is_some());
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let stats = storage.write_stats();
    assert_eq!((stats.commands, stats.failures), (4_000, 0));
    assert!(stats.commits < stats.commands, "commits are shared: {stats:?}");
    assert_eq!(integrity(&path), "ok");
}

#[tokio::test]
async fn everything_that_was_answered_is_there_after_opening_again() {
    let (_folder, path) = place();
    let login = fixtures::complete_login();
    let redeem = fixtures::redeem_code(login.id);
    let client = fixtures::client();
    {
        let storage = open(&path);
        storage.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
        storage.complete_login(login.clone()).await.unwrap();
        storage.redeem_code(redeem.clone()).await.unwrap();
    }
    let storage = open(&path);
    assert_eq!(storage.find_client(client.id).await.unwrap(), Some(client));
    assert!(storage.find_grant(login.id).await.unwrap().is_some_and(|grant| grant.redeemed));
    assert_eq!(
        storage.find_refresh(redeem.token.id).await.unwrap().map(|found| found.token),
        Some(redeem.token)
    );
}

#[tokio::test]
async fn after_a_shutdown_writes_are_refused_and_reads_work() {
    let (_folder, path) = place();
    let storage = open(&path);
    let command = fixtures::register_client();
    storage.register_client(command.clone()).await.unwrap();
    storage.shutdown().await;
    assert!(matches!(storage.ping().await, Err(StoreError::Unavailable(_))));
    assert!(storage.find_client(command.client.id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_row_that_cannot_be_names_itself() {
    let (_folder, path) = place();
    let storage = open(&path);
    let command = fixtures::register_client();
    storage.register_client(command.clone()).await.unwrap();
    connect(&path).batch_execute("UPDATE clients SET origin = 'the moon'").unwrap();
    let error = storage.find_client(command.client.id).await.unwrap_err();
    assert_eq!(error.to_string(), format!("stored clients {} has an impossible origin", command.client.id));
}

#[tokio::test]
async fn a_rule_of_access_that_cannot_be_read_lets_nobody_in() {
    let (_folder, path) = place();
    let storage = open(&path);
    let command = fixtures::register_client();
    let id = command.client.id;
    storage.register_client(command).await.unwrap();
    for (rule, released, column) in [
        ("''", "", "access_rule"),
        ("'Everyone'", "", "access_rule"),
        ("'groups:'", "", "access_rule"),
        ("NULL", "All", "released_groups"),
    ] {
        let update = format!("UPDATE clients SET access_rule = {rule}, released_groups = '{released}'");
        connect(&path).batch_execute(&update).unwrap();
        let error = storage.find_client(id).await.unwrap_err();
        assert_eq!(error.to_string(), format!("stored clients {id} has an impossible {column}"), "{rule}");
    }
}

#[tokio::test]
async fn a_row_of_an_account_that_cannot_be_names_itself() {
    let login = fixtures::remembered_login();
    let (user, session) = (login.new_user, login.session.as_ref().unwrap().id);
    let consent = format!("signed_consents {user} {}", login.client);
    for (change, expected) in [
        ("signed_consents SET scopes = 128", format!("{consent} has an impossible scopes")),
        ("signed_consents SET scopes = 4294967297", format!("{consent} has an impossible scopes")),
        (
            "signed_consents SET client_id = 'x'",
            format!("signed_consents {user} x has an impossible client_id"),
        ),
        ("signed_consents SET audiences = 'b\na'", format!("{consent} has an impossible audiences")),
        ("login_sessions SET user_id = 'x'", format!("login_sessions {session} has an impossible user_id")),
        (
            "emails SET confirmation_hash = NULL",
            format!("emails {user} has an impossible confirmation_expires_at"),
        ),
        ("users SET created_at = 9223372036854775807", format!("users {user} has an impossible created_at")),
    ] {
        let (_folder, path) = place();
        let storage = open(&path);
        storage.complete_login(login.clone()).await.unwrap();
        storage.put_email(fixtures::put_email(user)).await.unwrap();
        connect(&path).batch_execute(&format!("UPDATE {change}")).unwrap();
        let error = if change.starts_with("login_sessions") {
            storage.find_session(session).await.unwrap_err()
        } else {
            storage.find_account(user).await.unwrap_err()
        };
        assert_eq!(error.to_string(), format!("stored {expected}"));
    }
}

#[test]
fn a_database_in_memory_is_refused() {
    let refused = SqliteStorage::open(Path::new(":memory:"), SqliteOptions::default()).unwrap_err();
    assert!(matches!(refused, OpenError::File(FileError::InMemory(_))));
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_database_is_its_owners_only_and_so_is_its_new_folder() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _) = place();
    let path = folder.path().join("new/folder/countersign.db");
    let storage = open(&path);
    storage.register_client(fixtures::register_client()).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let file = PathBuf::from(format!("{}{suffix}", path.display()));
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn a_path_that_looks_like_a_uri_is_a_file() {
    let (folder, _) = place();
    let path = folder.path().join("odd?mode=memory&name#1.db");
    open(&path).register_client(fixtures::register_client()).await.unwrap();
    assert!(path.exists());
    assert_eq!(open(&path).list_clients(None, 10).await.unwrap().len(), 1);
}

/// The names of what is in a folder.
fn names(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn looking_at_a_path_tells_our_databases_from_everything_else_and_creates_nothing() {
    let (folder, path) = place();
    assert_eq!(look(&path).unwrap(), Found::Nothing);
    assert_eq!(look(&folder.path().join("no/folder/countersign.db")).unwrap(), Found::Nothing);
    assert_eq!(look(folder.path()).unwrap(), Found::Foreign);
    assert_eq!(names(&folder), Vec::<String>::new());

    std::fs::write(&path, "").unwrap();
    assert_eq!(look(&path).unwrap(), Found::Empty);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);

    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "these are not the bytes of a database").unwrap();
    assert_eq!(look(&text).unwrap(), Found::Foreign);

    let theirs = folder.path().join("theirs.db");
    connect(&theirs).batch_execute("CREATE TABLE photos (id INTEGER)").unwrap();
    assert_eq!(look(&theirs).unwrap(), Found::Foreign);
    let migrations = "CREATE TABLE __diesel_schema_migrations (version TEXT PRIMARY KEY); \
                      INSERT INTO __diesel_schema_migrations VALUES ('20200101000000')";
    connect(&theirs).batch_execute(migrations).unwrap();
    assert_eq!(look(&theirs).unwrap(), Found::Foreign, "another program that uses the same library");

    for odd in ["countersign.db", "odd?mode=memory&name#1 %41.db"] {
        let path = folder.path().join(odd);
        migrate(&path).unwrap();
        assert_eq!(look(&path).unwrap(), Found::Ours, "{odd}");
    }
    revert_all(&path).unwrap();
    assert_eq!(look(&path).unwrap(), Found::Empty);
}

#[tokio::test]
async fn looking_at_a_database_that_is_open_changes_nothing_for_those_who_use_it() {
    let (_folder, path) = place();
    let storage = open(&path);
    for _ in 0..3 {
        assert_eq!(look(&path).unwrap(), Found::Ours);
        storage.register_client(fixtures::register_client()).await.unwrap();
    }
}
