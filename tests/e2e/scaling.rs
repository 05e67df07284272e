//! Large deployments: connection poolers between the servers and the database, and a primary that is
//! replaced.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use countersign_test_postgres::{Cluster, PoolMode};
use countersign_tests::load::Load;
use countersign_tests::server::{OPERATOR_SECRET, binary};
use countersign_tests::{Database, Server};

const THREADS: usize = 4;

/// A database that its servers reach through a pooler.
fn pooled(mode: PoolMode, parameters: &str) -> Database {
    let cluster = Arc::new(Cluster::start());
    let port = cluster.start_pooler(mode);
    let url = |name: &str| format!("postgres://postgres@127.0.0.1:{port}/{name}{parameters}");
    Database::reached_by(&cluster, url)
}

/// Two replicas sign users in until enough requests succeeded. Then everything that was acknowledged is
/// checked.
#[track_caller]
fn two_replicas_work(database: &Database) {
    let first = database.start();
    let second = first.replica();
    let load = Load::start(&[first.site(), second.site()], THREADS);
    load.wait_for(400);
    let ledger = load.stop();
    assert_eq!(ledger.broken(), [], "connections failed");
    assert_eq!(ledger.unavailable(), 0, "a running database is available");
    ledger.hold_against(&second);
}

#[test]
fn two_replicas_work_through_a_pooler_of_sessions() {
    two_replicas_work(&pooled(PoolMode::Session, ""));
}

/// D-29.
#[test]
fn two_replicas_work_through_a_pooler_of_transactions_that_they_are_told_of() {
    two_replicas_work(&pooled(PoolMode::Transaction, "?pooler=transaction"));
}

/// Both start on an empty database. One of them migrates it, and the other's lock does not stay with the
/// pooler.
#[test]
fn replicas_that_start_at_once_migrate_through_a_pooler_of_transactions() {
    let database = pooled(PoolMode::Transaction, "?pooler=transaction");
    let servers: Vec<Server> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| database.start())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let client = servers[0].register();
    for server in &servers {
        assert_eq!(server.userinfo(&server.tokens(&client).access).status, 200);
    }
    assert_eq!(database.number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 0);
}

#[test]
fn a_pooler_of_transactions_that_nobody_told_of_is_refused_at_start() {
    let database = pooled(PoolMode::Transaction, "");
    let refused = refusal(&database);
    assert!(refused.contains("pooler=transaction") && refused.contains("docs/scaling.md"), "{refused}");
}

/// A pooler would lose settings that we make on a connection, so the role itself must be safe.
#[test]
fn a_pooler_of_transactions_before_a_role_that_is_not_durable_is_refused_at_start() {
    let database = pooled(PoolMode::Transaction, "?pooler=transaction");
    database.change("ALTER ROLE postgres SET synchronous_commit = off");
    let refused = refusal(&database);
    assert!(refused.contains("synchronous_commit"), "{refused}");
}

/// D-27: the primary dies under full load, its synchronous replica takes over, and the server is not
/// restarted.
#[test]
fn a_replica_that_is_promoted_has_every_answered_token_and_none_twice() {
    let primary = Arc::new(Cluster::start());
    let replica = primary.replicate();
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", primary.port(), replica.port());
    let url = |name: &str| format!("postgres://postgres@{hosts}/{name}?target_session_attrs=read-write");
    let database = Database::reached_by(&primary, url);
    let mut server = database.start();
    let load = Load::start(&[server.site()], THREADS);
    load.wait_for(200);
    primary.stop_immediate();
    replica.promote();
    let promoted = Instant::now();
    load.wait_for(200);
    println!("200 responses {:?} after the promotion", promoted.elapsed());
    let ledger = load.stop();
    assert!(!server.has_ended(), "the server exited");
    assert_eq!(ledger.broken(), [], "connections failed");
    ledger.hold_against(&server);
}

/// The error message of a server that does not start.
fn refusal(database: &Database) -> String {
    let mut command = Command::new(binary());
    command.arg("serve").current_dir(database.folder()).env("COUNTERSIGN_BIND", "127.0.0.1:0");
    command.env("COUNTERSIGN_DATABASE_URL", database.url()).env("COUNTERSIGN_SECRET", OPERATOR_SECRET);
    let ended = command.output().unwrap();
    assert!(!ended.status.success());
    String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned()
}
