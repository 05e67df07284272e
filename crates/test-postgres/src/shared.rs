//! The cluster that the tests of all processes share.
//!
//! The first process that asks starts it; nextest runs each test in a process of its own, and to make a cluster takes one to
//! four seconds on a busy machine. Each process that uses it holds a shared lock on a file as long as it lives, however it
//! ends. The cluster's shell waits until nobody holds that lock, waits a few seconds more, and removes the cluster.
//!
//! Most tests begin with a database that is prepared in the same way. It is prepared once, and copied.
//!
//! Nothing that is committed here survives a crash: the server writes to disk when it likes. Tests that stop the server,
//! change its settings or make claims about crashes start a [`Cluster`](crate::Cluster) of their own.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use crate::Cluster;
use crate::address::Address;
use crate::supervisor::Settings;
use crate::wire::Wire;

/// A cluster for tests that need a database, and do nothing to the server.
#[derive(Debug)]
pub struct SharedCluster {
    address: Address,
    /// A connection to the server's own database.
    wire: Mutex<Wire>,
    databases: AtomicU32,
    /// What the processes tell each other. Locked while one of them starts the cluster or prepares a database.
    note: PathBuf,
    /// Locked as long as this process lives.
    _in_use: File,
}

impl SharedCluster {
    /// The cluster of all test programs that lie in the same folder.
    pub(crate) fn of_all_tests() -> &'static Self {
        static SHARED: OnceLock<SharedCluster> = OnceLock::new();
        SHARED.get_or_init(|| Self::join(&folder()))
    }

    /// Uses the cluster of a folder, and starts it if there is none.
    pub(crate) fn join(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("the folder of the test programs can be written to");
        let path = folder.join("cluster");
        // One process at a time looks whether there is a cluster, and starts it.
        let mut note = locked(&path);
        let in_use = open(&folder.join("in-use"));
        in_use.lock_shared().expect("files can be locked");
        let (address, wire) = Note::read(&mut note).and_then(Note::check).unwrap_or_else(|| {
            let users = open(&folder.join("in-use"));
            let cluster = Cluster::start_as(&Settings::Shared { users });
            Note::of(&cluster).write(&mut note);
            let address = cluster.leave();
            (
                address,
                Wire::open(address.port(), "postgres").expect("the cluster that was just started is there"),
            )
        });
        let shared = Self {
            address,
            wire: Mutex::new(wire),
            databases: AtomicU32::new(0),
            note: path,
            _in_use: in_use,
        };
        for database in shared.tell(DATABASES).lines().filter(|name| is_left(name)) {
            shared.tell(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"));
        }
        shared
    }

    /// Makes an empty database and gives its URL. It is removed when this process has ended.
    pub fn create_database(&self) -> String {
        self.create_like("template0")
    }

    /// Makes a database like the one that this program prepares, and gives its URL. It is removed when this process has
    /// ended. The first process that asks prepares an empty database by its URL, and ends all connections to it; every
    /// other one gets a copy of what it left. When the program was built anew, it prepares anew.
    pub fn create_prepared_database(&self, program: &Path, prepare: impl FnOnce(&str)) -> String {
        let prepared = format!("prepared_{}", build_of(program));
        let lock = locked(&self.note);
        if self.tell(&format!("SELECT 1 FROM pg_database WHERE datname = '{prepared}'")).is_empty() {
            // It gets its name at the end, because preparing can fail.
            self.tell("DROP DATABASE IF EXISTS preparing WITH (FORCE)");
            self.tell("CREATE DATABASE preparing TEMPLATE template0");
            prepare(&self.address.url("preparing"));
            self.tell(&format!("ALTER DATABASE preparing RENAME TO {prepared}"));
        }
        drop(lock);
        self.create_like(&prepared)
    }

    /// Runs statements in a database, and gives what they answer: a line for each row, a `|` between columns.
    pub fn execute(&self, database: &str, statements: &str) -> String {
        self.address.execute(database, statements)
    }

    fn create_like(&self, original: &str) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", process::id());
        // By itself PostgreSQL would copy each page through its memory and its log, for three times as much work.
        self.tell(&format!("CREATE DATABASE {name} TEMPLATE {original} STRATEGY file_copy"));
        self.address.url(&name)
    }

    /// Runs a statement in the server's own database.
    fn tell(&self, statement: &str) -> String {
        let mut wire = self.wire.lock().unwrap_or_else(PoisonError::into_inner);
        wire.execute(statement).unwrap_or_else(|problem| panic!("{statement}: {problem}"))
    }
}

const DATABASES: &str = "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'";

/// Did a process make this database that is gone by now? This process has made none yet.
fn is_left(database: &str) -> bool {
    let maker = database.split('_').nth(1).unwrap_or_default();
    maker == process::id().to_string() || !Path::new("/proc").join(maker).exists()
}

/// What the processes tell each other about the cluster. A note about a cluster that is gone is no harm.
struct Note {
    port: u16,
    data: PathBuf,
}

impl Note {
    fn of(cluster: &Cluster) -> Self {
        Self { port: cluster.port(), data: cluster.data() }
    }

    fn read(file: &mut File) -> Option<Self> {
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        let (port, data) = text.trim_end().split_once(' ')?;
        Some(Self { port: port.parse().ok()?, data: PathBuf::from(data) })
    }

    fn write(&self, file: &mut File) {
        file.rewind().and_then(|()| file.set_len(0)).expect("the note can be written again");
        writeln!(file, "{} {}", self.port, self.data.display()).expect("the note can be written");
    }

    /// Is it this cluster that listens there?
    fn check(self) -> Option<(Address, Wire)> {
        let mut wire = Wire::open(self.port, "postgres").ok()?;
        let data = wire.execute("SHOW data_directory").ok()?;
        (self.data == Path::new(&data)).then_some((Address::new(self.port), wire))
    }
}

/// `target/debug/shared-postgres`, for a test in `target/debug/deps`.
fn folder() -> PathBuf {
    let program = env::current_exe().expect("a program knows its path");
    program.ancestors().nth(2).expect("target/<profile>/deps/<test>").join("shared-postgres")
}

/// Distinguishes what was built from what was built at another time, so that nothing that was prepared for an older
/// program is used for a newer one.
pub fn build_of(program: &Path) -> String {
    let built = fs::metadata(program).and_then(|metadata| metadata.modified());
    let built = built.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    built.duration_since(SystemTime::UNIX_EPOCH).expect("1970 is long ago").as_nanos().to_string()
}

/// Opens a file and waits for its lock, which ends when the file is closed.
fn locked(path: &Path) -> File {
    let file = open(path);
    file.lock().expect("files can be locked");
    file
}

fn open(path: &Path) -> File {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    opened.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
