//! A PostgreSQL of three nodes under Patroni, which replaces its leader by itself, under two servers: one goes through
//! HAProxy, the other knows all nodes. Whatever they acknowledged stays, nothing works twice, and in between there are 503s.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use countersign_test_postgres::Patroni;
use countersign_tests::load::Load;
use countersign_tests::{Database, Server};

use crate::events::crashes;

/// How many connections `make heal` uses, and how many it is otherwise.
const CONNECTIONS: (usize, usize) = (64, 8);
/// How one of the servers reaches the nodes.
const HAPROXY: &str = "HAProxy";
/// How long both servers sign people in before and after each failure.
const AROUND: usize = 100;

/// How long each connection pauses after a sign-in.
const PAUSE: Duration = Duration::from_millis(200);

/// What happens to the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// An operator hands the lead over.
    SwitchOver,
    /// Its PostgreSQL is killed.
    Crash,
    /// Its machine loses its power, and comes back.
    PowerLoss,
    /// Nothing reaches it, and then everything does again.
    NetworkCut,
}

impl Failure {
    /// Replaces the leader, and returns when another one leads.
    fn happen(self, nodes: &Patroni) {
        let leader = nodes.leader().unwrap();
        match self {
            Self::SwitchOver => {
                let follower = nodes.synchronous_follower().unwrap();
                nodes.switch_over(leader, follower);
            }
            Self::Crash => nodes.crash(leader),
            Self::PowerLoss => nodes.kill(leader),
            Self::NetworkCut => nodes.freeze(leader),
        }
        match self {
            // Whether the same node leads again, is for Patroni to decide.
            Self::Crash => nodes.wait_until_whole(),
            Self::SwitchOver | Self::PowerLoss | Self::NetworkCut => {
                nodes.wait_for_another_leader(leader);
            }
        }
    }

    /// Brings the former leader back.
    fn end(self, nodes: &Patroni, former: usize) {
        match self {
            Self::SwitchOver | Self::Crash => {}
            Self::PowerLoss => nodes.start_again(former),
            Self::NetworkCut => {
                nodes.thaw(former);
                // It does not know yet that it was replaced. What it says now must not be believed.
                thread::sleep(Duration::from_secs(3));
            }
        }
    }

    /// Does a connection to the former leader stay open, and nothing answer?
    const fn leaves_connections_open(self) -> bool {
        matches!(self, Self::NetworkCut)
    }
}

/// D-27, D-03: `make heal` lets every failure happen, at 64 connections.
#[test]
fn a_leader_that_is_replaced_costs_503s_and_nothing_that_was_acknowledged() {
    let all = std::env::var("HEAL").is_ok_and(|size| size == "full");
    let connections = if all { CONNECTIONS.0 } else { CONNECTIONS.1 };
    let failures: &[Failure] = if all {
        &[Failure::SwitchOver, Failure::Crash, Failure::PowerLoss, Failure::NetworkCut]
    } else {
        &[Failure::SwitchOver]
    };
    let began = Instant::now();
    let nodes = Arc::new(Patroni::start());
    println!("all nodes run after {:?}", began.elapsed());
    for failure in failures {
        survive(&nodes, *failure, connections);
    }
}

fn survive(nodes: &Arc<Patroni>, failure: Failure, connections: usize) {
    nodes.wait_until_whole();
    let database = Database::of_nodes(nodes);
    let name = database.url().rsplit('/').next().unwrap().to_owned();
    let direct = format!("postgres://postgres@{}/{name}", nodes.hosts());
    // Codes live longer than the test.
    let settings = database.server().with_env("COUNTERSIGN_CODE_TTL", "600");
    let through_proxy = settings.clone().start();
    let by_hosts = settings
        .with_env("COUNTERSIGN_DATABASE_URL", &direct)
        .with_public_url(&through_proxy.public_url)
        .start();
    let mut servers: Vec<(&str, Server)> = vec![(HAPROXY, through_proxy), ("all hosts", by_hosts)];
    let loads: Vec<Load> = servers
        .iter()
        .map(|(_, server)| Load::start_with_pauses(&[server.site()], connections / 2, PAUSE))
        .collect();
    loads.iter().for_each(|load| load.wait_for(AROUND));

    let (former, began) = (nodes.leader().unwrap(), Instant::now());
    failure.happen(nodes);
    println!("{failure:?}: another leader after {:?}", began.elapsed());
    for ((way, _), load) in servers.iter().zip(&loads) {
        // Only HAProxy ends those: docs/scaling.md says so.
        if failure.leaves_connections_open() && *way != HAPROXY {
            continue;
        }
        load.wait_for(AROUND);
        println!("{failure:?}, {way}: {AROUND} responses {:?} after it happened", began.elapsed());
    }
    failure.end(nodes, former);
    nodes.wait_until_whole();
    loads.iter().for_each(|load| load.wait_for(AROUND));

    println!("{failure:?}: whole again after {:?}", began.elapsed());
    for ((way, server), load) in servers.iter_mut().zip(loads) {
        let ledger = load.stop();
        println!(
            "{failure:?}, {way}: {} acknowledged, {} 503s, longest gap {:?}, slowest response {:?}",
            ledger.acknowledged(),
            ledger.unavailable(),
            ledger.longest_gap(),
            ledger.slowest(),
        );
        assert!(!server.has_ended(), "the server exited");
        assert_eq!(ledger.broken(), [], "connections failed");
        assert!(ledger.slowest() < Duration::from_secs(5), "{:?}", ledger.slowest());
        ledger.hold_against(server);
    }
    println!("{failure:?}: what was acknowledged is checked after {:?}", began.elapsed());
    let (events, facts) = crashes::compare(&database);
    println!("{failure:?}: {} events and {facts} rows tell the same", events.len());
}
