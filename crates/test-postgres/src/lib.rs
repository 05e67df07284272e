//! A throw-away PostgreSQL cluster for tests, which start, break, repair and remove it.
//!
//! The cluster listens on a free port of 127.0.0.1 and trusts every connection from there. It syncs to disk
//! as a real one does, because durability is among the things under test. On a machine without PostgreSQL the
//! tests fail; they are never skipped.
//!
//! Most tests need only a database. They share one cluster, [`SharedCluster`], and each has a database of its own,
//! which can be a copy of one that was prepared once.
//!
//! A cluster can have a replica that follows it, and poolers in front of it. [`Patroni`] is three nodes, of which one leads
//! and another takes over by itself.
//!
//! A shell runs between us and the server (see `supervisor.sh`), for two reasons. PostgreSQL refuses to run
//! as root, so the shell becomes the user `postgres`. And the shell removes everything as soon as our end of
//! its pipe closes, even if this process is killed.
#![expect(
    clippy::expect_used,
    reason = "a test cluster that does not do as told fails the test by panicking"
)]

mod address;
mod binaries;
mod patroni;
mod port;
mod shared;
mod supervisor;
mod wire;

use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use address::Address;
use binaries::Binaries;
pub use patroni::Patroni;
pub use port::free_port;
pub use shared::{SharedCluster, build_of};
use supervisor::{Settings, Supervisor};

/// A running PostgreSQL cluster. It is stopped and removed when this value is dropped, or when the process
/// ends.
#[derive(Debug)]
pub struct Cluster {
    address: Address,
    supervisor: Mutex<Supervisor>,
    databases: AtomicU32,
}

impl Cluster {
    /// Creates a cluster and starts it.
    ///
    /// # Panics
    ///
    /// If PostgreSQL is not installed or does not start.
    pub fn start() -> Self {
        Self::start_as(&Settings::Durable)
    }

    /// The same, with these variables in the environment of its processes.
    pub fn start_with(environment: &[(String, String)]) -> Self {
        Self::start_as(&Settings::DurableWith(environment.to_vec()))
    }

    fn start_as(settings: &Settings) -> Self {
        let mut supervisor = Supervisor::start(&Binaries::find(), settings);
        // Before PostgreSQL starts, a program that is no test can take the port.
        for _ in 0..5 {
            let port = free_port();
            if supervisor.tell(&format!("port {port}")).is_ok() && supervisor.tell("start").is_ok() {
                let (address, supervisor) = (Address::new(port), Mutex::new(supervisor));
                return Self { address, supervisor, databases: AtomicU32::new(0) };
            }
        }
        panic!("PostgreSQL does not start; its log says:\n{}", supervisor.log());
    }

    /// The cluster that all tests share, also those of other programs. Use it for databases, and do nothing to it
    /// that other tests would notice.
    ///
    /// # Panics
    ///
    /// If there is no such cluster yet, and PostgreSQL is not installed or does not start.
    pub fn shared() -> &'static SharedCluster {
        SharedCluster::of_all_tests()
    }

    /// The URL of a database, whether it exists or not.
    pub fn url(&self, database: &str) -> String {
        self.address.url(database)
    }

    /// The TCP port on 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Creates an empty database and returns its URL.
    pub fn create_database(&self) -> String {
        self.address.create_database(&format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed)))
    }

    /// Runs statements in a database and returns their output: one line per row, with `|` between columns.
    pub fn execute(&self, database: &str, statements: &str) -> String {
        self.address.execute(database, statements)
    }

    /// Stops the server as a crash would: nothing is flushed and no client is told. What was committed must
    /// still be there afterwards.
    pub fn stop_immediate(&self) {
        self.tell("stop immediate");
    }

    /// Stops the server as an administrator would: clients are disconnected.
    pub fn stop_fast(&self) {
        self.tell("stop fast");
    }

    /// Starts a stopped server again. It recovers its data.
    pub fn start_again(&self) {
        self.tell("start");
    }

    /// Starts a second server that follows this one and can be read. From then on, this server answers a
    /// commit only when the second one also has it on disk.
    pub fn replicate(&self) -> Self {
        let replica = Self::start_as(&Settings::CopyOf(self.port()));
        // Set only now: before there is a replica, every commit would wait for it.
        self.execute("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.execute("postgres", "SELECT pg_reload_conf()");
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.execute("postgres", "SELECT sync_state FROM pg_stat_replication") != "sync" {
            assert!(Instant::now() < deadline, "the replica does not follow");
            thread::sleep(Duration::from_millis(20));
        }
        replica
    }

    /// From now on there is a role that gets in by TLS and with a password only, and may do everything. Returns how a
    /// URL names it: everything up to the name of a database, and the parameters behind it.
    ///
    /// # Panics
    ///
    /// If the program `openssl`, which makes the certificate, is not installed.
    pub fn secure(&self) -> (String, &'static str) {
        self.tell("secure secured");
        self.execute("postgres", "CREATE ROLE secured LOGIN SUPERUSER PASSWORD 'p4ssw0rd'");
        let wanted = "on|scram-sha-256";
        let settings = "SELECT current_setting('ssl') || '|' || current_setting('password_encryption')";
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.execute("postgres", settings) != wanted {
            assert!(Instant::now() < deadline, "the server does not offer TLS");
            thread::sleep(Duration::from_millis(20));
        }
        (format!("postgres://secured:p4ssw0rd@127.0.0.1:{}/", self.port()), "?sslmode=require")
    }

    /// Makes a replica accept writes itself.
    pub fn promote(&self) {
        self.tell("promote");
    }

    /// Starts a `PgBouncer` in front of the server and returns its port. It ends with the cluster.
    ///
    /// # Panics
    ///
    /// If `PgBouncer` is not installed or does not start.
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

    /// Freezes the server and its connections: they stay open, and nothing answers.
    pub fn pause(&self) {
        self.tell("pause");
    }

    /// Lets a frozen server continue.
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

/// One of PostgreSQL's programs, such as `pg_dump`.
pub fn program(name: &str) -> PathBuf {
    Binaries::find().folder().join(name)
}

/// Waits until a port accepts connections.
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

/// How long `PgBouncer` lends a server connection to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolMode {
    /// Until the client disconnects.
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

#[cfg(test)]
mod tests;
