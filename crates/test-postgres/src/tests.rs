//! The cluster does as it is told, and leaves nothing behind.

use std::net::TcpStream;
use std::time::Duration;

use super::*;

fn listens(port: u16) -> bool {
    TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), Duration::from_secs(1)).is_ok()
}

#[test]
fn what_was_committed_outlives_a_crash() {
    let cluster = Cluster::shared();
    let database = cluster.create_database();
    let name = database.rsplit('/').next().unwrap();
    cluster.execute(name, "CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('kept')");
    cluster.stop_immediate();
    assert!(!listens(cluster.port()));
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
    assert!(!listens(port));
    assert!(!folder.exists());
}
