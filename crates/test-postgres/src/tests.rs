//! The cluster obeys its commands, and leaves nothing behind.

use super::*;

fn is_there(port: u16) -> bool {
    TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), Duration::from_secs(1)).is_ok()
}

#[test]
fn what_was_committed_outlives_a_crash() {
    let cluster = Cluster::shared();
    let database = cluster.create_database();
    let name = database.rsplit('/').next().unwrap();
    cluster.execute(name, "CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('kept')");
    cluster.stop_immediate();
    assert!(!is_there(cluster.port()));
    cluster.start_again();
    assert_eq!(cluster.execute(name, "SELECT word FROM words"), "kept");
}

#[test]
fn a_dropped_cluster_is_gone_even_when_it_was_frozen() {
    let cluster = Cluster::start();
    let (port, folder) = (cluster.port(), cluster.supervisor().folder());
    assert!(folder.join("data").parent().is_some_and(|folder| folder.exists()));
    cluster.pause();
    drop(cluster);
    assert!(!is_there(port));
    assert!(!folder.exists());
}

#[test]
fn a_promoted_replica_has_what_was_committed_and_takes_writes() {
    let primary = Cluster::start();
    let replica = primary.replicate();
    primary.execute("postgres", "CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('kept')");
    primary.stop_immediate();
    replica.promote();
    assert_eq!(
        replica.execute("postgres", "INSERT INTO words VALUES ('new'); SELECT word FROM words"),
        "kept\nnew"
    );
}

#[test]
fn a_pooler_goes_with_its_cluster() {
    let cluster = Cluster::start();
    let pooler = cluster.start_pooler(PoolMode::Session);
    assert!(is_there(pooler));
    drop(cluster);
    assert!(!is_there(pooler));
}
