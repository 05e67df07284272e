//! A PostgreSQL of three nodes that heals itself: Patroni, with etcd, and with HAProxy in front, as `docs/scaling.md`
//! shows it.

use std::env;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::address::Address;
use crate::binaries::Binaries;
use crate::port::free_port;
use crate::supervisor::Supervisor;

const SCRIPT: &str = include_str!("patroni.sh");
const NODES: usize = 3;
/// Longer than it takes Patroni to notice that a leader is gone, and a replica to be copied on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// The nodes. Everything is stopped and removed when this value is dropped, or when the process ends.
#[derive(Debug)]
pub struct Patroni {
    supervisor: Mutex<Supervisor>,
    proxy: Address,
    nodes: Vec<Node>,
    databases: AtomicU32,
}

/// Where the two parts of a node listen.
#[derive(Clone, Copy, Debug)]
struct Node {
    postgres: Address,
    patroni: u16,
}

impl Patroni {
    /// Creates the nodes, and waits until one leads, one follows synchronously, and one follows.
    ///
    /// # Panics
    ///
    /// If PostgreSQL or the archive with the other programs is missing, or something does not start.
    pub fn start() -> Self {
        let ports = [(); 3 + 2 * NODES].map(|()| free_port());
        let (others, nodes) = ports.split_at(3);
        let nodes: Vec<Node> = nodes
            .chunks(2)
            .map(|ports| Node { postgres: Address::new(ports[0]), patroni: ports[1] })
            .collect();
        let mut arguments: Vec<String> = others.iter().map(ToString::to_string).collect();
        arguments.extend(nodes.iter().map(|node| format!("{}:{}", node.postgres.port(), node.patroni)));
        let supervisor = Supervisor::of_nodes(&Binaries::find(), SCRIPT, &arguments, programs());
        let patroni = Self {
            supervisor: Mutex::new(supervisor),
            proxy: Address::new(others[2]),
            nodes,
            databases: AtomicU32::new(0),
        };
        patroni.tell("etcd");
        patroni.tell("proxy");
        patroni.start_again(0);
        patroni.wait_for("a leader", || patroni.leader().is_some());
        for node in 1..NODES {
            patroni.start_again(node);
        }
        patroni.wait_until_whole();
        patroni
    }

    /// HAProxy's port, which leads to the node that leads.
    pub const fn port(&self) -> u16 {
        self.proxy.port()
    }

    /// Every node's host and port, as a URL can list them.
    pub fn hosts(&self) -> String {
        let hosts = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.postgres.port()));
        hosts.collect::<Vec<_>>().join(",")
    }

    /// Creates an empty database and returns its name.
    pub fn create_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.execute("postgres", &format!("CREATE DATABASE {name} TEMPLATE template0"));
        name
    }

    /// Runs statements in a database of the leader and returns their output: one line per row, with `|` between columns.
    pub fn execute(&self, database: &str, statements: &str) -> String {
        self.proxy.execute(database, statements)
    }

    /// The node that leads, if Patroni says that there is one.
    pub fn leader(&self) -> Option<usize> {
        (0..NODES).find(|node| self.ask(*node, "GET", "/primary", "").is_some_and(|answer| answer.0 == 200))
    }

    /// A node that follows, and that took down every commit that was answered.
    pub fn synchronous_follower(&self) -> Option<usize> {
        (0..NODES)
            .find(|node| self.ask(*node, "GET", "/synchronous", "").is_some_and(|answer| answer.0 == 200))
    }

    /// Kills the PostgreSQL of a node with SIGKILL. Its Patroni lives on.
    pub fn crash(&self, node: usize) {
        self.tell(&format!("crash {}", node + 1));
    }

    /// Kills a whole node with SIGKILL, as a machine that loses its power.
    pub fn kill(&self, node: usize) {
        self.tell(&format!("kill {}", node + 1));
    }

    /// Starts a node that was killed.
    pub fn start_again(&self, node: usize) {
        self.tell(&format!("patroni {}", node + 1));
    }

    /// Freezes a whole node with its connections: they stay open, and nothing answers.
    pub fn freeze(&self, node: usize) {
        self.tell(&format!("freeze {}", node + 1));
    }

    /// Lets a frozen node continue. It does not know yet what happened meanwhile.
    pub fn thaw(&self, node: usize) {
        self.tell(&format!("thaw {}", node + 1));
    }

    /// Hands the lead over, as an operator would with `patronictl switchover`, and returns when it is done.
    ///
    /// # Panics
    ///
    /// If Patroni refuses.
    pub fn switch_over(&self, from: usize, to: usize) {
        let body = format!(r#"{{"leader": "node{}", "candidate": "node{}"}}"#, from + 1, to + 1);
        let answer = self.ask(from, "POST", "/switchover", &body);
        assert!(answer.as_ref().is_some_and(|answer| answer.0 == 200), "switchover: {answer:?}");
    }

    /// Waits until another node leads.
    pub fn wait_for_another_leader(&self, than: usize) -> usize {
        self.wait_for("another leader", || self.leader().is_some_and(|leader| leader != than));
        self.leader().unwrap_or(than)
    }

    /// Waits until one node leads and all others follow it, one of them synchronously.
    pub fn wait_until_whole(&self) {
        let followers = "SELECT count(*), count(*) FILTER (WHERE sync_state = 'sync') FROM pg_stat_replication \
                         WHERE state = 'streaming'";
        self.wait_for("all nodes to follow", || {
            let state = self.proxy.try_to_execute("postgres", followers);
            self.synchronous_follower().is_some()
                && state.is_ok_and(|state| state == format!("{}|1", NODES - 1))
        });
    }

    fn wait_for(&self, what: &str, is_there: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_there() {
            assert!(Instant::now() < deadline, "waited for {what}; {}", self.logs());
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn tell(&self, command: &str) {
        let mut supervisor = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(answer) = supervisor.tell(command) {
            panic!("{command}: {answer}");
        }
    }

    /// Sends a request to the Patroni of a node. Returns status and body, if it answers in time.
    fn ask(&self, node: usize, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.nodes[node].patroni)).ok()?;
        // A switchover is answered when it is done; everything else at once.
        let patience = if method == "GET" { Duration::from_secs(1) } else { PATIENCE };
        stream.set_read_timeout(Some(patience)).ok()?;
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
    }

    /// The ends of all logs, for a message that explains a failure.
    fn logs(&self) -> String {
        let folder = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner).folder();
        let nodes = (1..=NODES).map(|node| format!("patroni{node}.log"));
        let mut told = String::new();
        for name in nodes.chain(["etcd.log", "proxy.log", "commands.log"].map(ToOwned::to_owned)) {
            let log = std::fs::read_to_string(folder.join(&name)).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let end = lines[lines.len().saturating_sub(8)..].join("\n");
            // Writing to a string cannot fail.
            let _ = writeln!(told, "\n--- {name}\n{end}");
        }
        told
    }
}

/// The archive with Patroni, etcd and HAProxy.
fn programs() -> File {
    let archive: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/patroni.tar");
    File::open(&archive).unwrap_or_else(|error| {
        panic!(
            "{}: {error}: run `make .tools/patroni.tar`, which unpacks Debian's packages into it",
            archive.display()
        )
    })
}
