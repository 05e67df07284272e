//! The cluster obeys its commands, and leaves nothing behind.

use std::path::Path;
use std::{env, fs, process};

use super::*;

fn is_there(port: u16) -> bool {
    TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), Duration::from_secs(1)).is_ok()
}

#[test]
fn what_was_committed_outlives_a_crash() {
    let cluster = Cluster::start();
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

#[test]
fn a_shared_cluster_is_one_for_all_who_come_and_is_gone_when_they_are() {
    let folder = env::temp_dir().join(format!("countersign-shared-{}", process::id()));
    let first = SharedCluster::join(&folder);
    let database = first.create_database();
    let name = database.rsplit('/').next().unwrap();
    first.execute(name, "CREATE TABLE words (word TEXT)");
    let second = SharedCluster::join(&folder);
    let data = second.execute("postgres", "SHOW data_directory");
    assert_eq!(first.execute("postgres", "SHOW data_directory"), data);
    assert!(
        !second.execute("postgres", "SELECT datname FROM pg_database").contains(name),
        "it was left over"
    );

    drop(first);
    let third = SharedCluster::join(&folder);
    assert_eq!(third.execute("postgres", "SHOW data_directory"), data, "somebody still uses it");
    drop((second, third));
    let deadline = Instant::now() + Duration::from_secs(60);
    while Path::new(&data).parent().is_some_and(Path::exists) {
        assert!(Instant::now() < deadline, "nobody uses it");
        thread::sleep(Duration::from_millis(50));
    }
    fs::remove_dir_all(folder).unwrap();
}
