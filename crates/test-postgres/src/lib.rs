//! A throw-away PostgreSQL cluster for tests: started, broken, mended and removed by them.
//!
//! The cluster listens on a free port of 127.0.0.1 and trusts everybody who comes from there. It syncs to disk as a
//! real one does, because durability is among the things that are tested. A machine without PostgreSQL makes the tests
//! fail, never skip.
//!
//! Most tests need a database and leave the server alone: they share one cluster, [`SharedCluster`], each with a database
//! of its own.
//!
//! A cluster may have a copy that follows it, and poolers in front of it.
//!
//! A shell stands between us and the server (see `supervisor.sh`): PostgreSQL refuses to be root, so it is the shell that
//! becomes the user `postgres`; and the shell removes everything as soon as our end of its pipe closes, even if this
//! process is killed.
#![expect(
    clippy::expect_used,
    reason = "a test cluster that does not do as told fails the test by panicking"
)]

mod address;
mod binaries;
mod shared;
mod supervisor;

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use address::Address;
use binaries::Binaries;
pub use shared::SharedCluster;
use supervisor::{Settings, Supervisor};

/// A running PostgreSQL cluster. It is stopped and removed when this is dropped, or when the process ends.
#[derive(Debug)]
pub struct Cluster {
    address: Address,
    supervisor: Mutex<Supervisor>,
    databases: AtomicU32,
}

impl Cluster {
    /// Makes a cluster and starts it.
    ///
    /// # Panics
    ///
    /// If PostgreSQL is not installed, or does not start.
    pub fn start() -> Self {
        Self::start_with(&Settings::Durable)
    }

    fn start_with(settings: &Settings) -> Self {
        let mut supervisor = Supervisor::start(&Binaries::find(), settings);
        // Between the moment when a free port is found and the one when PostgreSQL takes it, somebody else may.
        for _ in 0..5 {
            let port = free_port();
            if supervisor.tell(&format!("port {port}")).is_ok() && supervisor.tell("start").is_ok() {
                let (address, supervisor) = (Address::new(port), Mutex::new(supervisor));
                return Self { address, supervisor, databases: AtomicU32::new(0) };
            }
        }
        panic!("PostgreSQL does not start; its log says:\n{}", supervisor.log());
    }

    /// The cluster that all tests share, those of other programs too: for a database, and nothing that the other tests
    /// would notice.
    ///
    /// # Panics
    ///
    /// If there is none yet and PostgreSQL is not installed, or does not start.
    pub fn shared() -> &'static SharedCluster {
        SharedCluster::of_all_tests()
    }

    /// The URL of a database, whether it is there or not.
    pub fn url(&self, database: &str) -> String {
        self.address.url(database)
    }

    /// The TCP port on 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Makes an empty database and gives its URL.
    pub fn create_database(&self) -> String {
        self.address.create_database(&format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed)))
    }

    /// Runs statements in a database, and gives what they answer: a line for each row, a `|` between columns.
    pub fn execute(&self, database: &str, statements: &str) -> String {
        self.address.execute(database, statements)
    }

    /// Stops the server as a crash would: nothing is flushed, nobody is told. What was committed must be there later.
    pub fn stop_immediate(&self) {
        self.tell("stop immediate");
    }

    /// Stops the server as an administrator would: whoever is connected is sent away.
    pub fn stop_fast(&self) {
        self.tell("stop fast");
    }

    /// Starts the server that was stopped; it recovers what it had.
    pub fn start_again(&self) {
        self.tell("start");
    }

    /// Starts another server that follows this one and can be read. From then on this one answers a commit only when the
    /// other has it on disk too.
    pub fn replicate(&self) -> Self {
        let replica = Self::start_with(&Settings::CopyOf(self.port()));
        // Not before there is one: each commit would wait for it.
        self.execute("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.execute("postgres", "SELECT pg_reload_conf()");
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.execute("postgres", "SELECT sync_state FROM pg_stat_replication") != "sync" {
            assert!(Instant::now() < deadline, "the replica does not follow");
            thread::sleep(Duration::from_millis(20));
        }
        replica
    }

    /// Makes a server that follows one that takes writes itself.
    pub fn promote(&self) {
        self.tell("promote");
    }

    /// Starts a `PgBouncer` in front of the server, and gives its port. It ends with the cluster.
    ///
    /// # Panics
    ///
    /// If `PgBouncer` is not installed, or does not start.
    pub fn start_pooler(&self, mode: PoolMode) -> u16 {
        for _ in 0..5 {
            let port = free_port();
            let answer = self.supervisor().tell(&format!("pool {port} {}", mode.name()));
            if answer.is_ok() && listens(port) {
                return port;
            }
        }
        panic!("PgBouncer does not start; on Debian and Ubuntu: apt-get install pgbouncer");
    }

    /// Freezes the server with everybody whom it serves: connections stay open, and nothing answers.
    pub fn pause(&self) {
        self.tell("pause");
    }

    /// Lets a frozen server go on.
    pub fn resume(&self) {
        self.tell("resume");
    }

    /// The server's data folder.
    fn data(&self) -> PathBuf {
        self.supervisor().folder().join("data")
    }

    /// Lets a shared cluster run on when this is dropped.
    fn leave(self) -> Address {
        self.supervisor.into_inner().unwrap_or_else(PoisonError::into_inner).leave();
        self.address
    }

    fn tell(&self, command: &str) {
        let mut supervisor = self.supervisor();
        if let Err(answer) = supervisor.tell(command) {
            panic!("PostgreSQL does not {command}: {answer}; its log says:\n{}", supervisor.log());
        }
    }

    fn supervisor(&self) -> MutexGuard<'_, Supervisor> {
        self.supervisor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until somebody takes connections at a port.
fn listens(port: u16) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}

/// For how long `PgBouncer` lends a session of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolMode {
    /// Until the client goes.
    Session,
    /// For one transaction.
    Transaction,
}

impl PoolMode {
    const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Transaction => "transaction",
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("127.0.0.1 has a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

#[cfg(test)]
mod tests;
