//! The cluster that the tests of all processes share.
//!
//! The first process that asks starts it; nextest runs each test in a process of its own, and to make a cluster takes one to
//! four seconds on a busy machine. Each process that uses it holds a shared lock on a file as long as it lives, however it
//! ends. The cluster's shell waits until nobody holds that lock, waits a few seconds more, and removes the cluster.
//!
//! Nothing that is committed here survives a crash: the server writes to disk when it likes. Tests that stop the server,
//! change its settings or make claims about crashes start a [`Cluster`](crate::Cluster) of their own.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Cluster;
use crate::address::Address;
use crate::supervisor::Settings;

/// A cluster for tests that need a database, and do nothing to the server.
#[derive(Debug)]
pub struct SharedCluster {
    address: Address,
    databases: AtomicU32,
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
        // One process at a time looks whether there is a cluster, and starts it.
        let mut note = open(&folder.join("cluster"));
        note.lock().expect("files can be locked");
        let in_use = open(&folder.join("in-use"));
        in_use.lock_shared().expect("files can be locked");
        let address = Note::read(&mut note).and_then(Note::check).unwrap_or_else(|| {
            let users = open(&folder.join("in-use"));
            let cluster = Cluster::start_with(&Settings::Shared { users });
            Note::of(&cluster).write(&mut note);
            cluster.leave()
        });
        for database in address.execute("postgres", DATABASES).lines().filter(|name| is_left(name)) {
            address.execute("postgres", &format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"));
        }
        Self { address, databases: AtomicU32::new(0), _in_use: in_use }
    }

    /// Makes an empty database and gives its URL. It is removed when this process has ended.
    pub fn create_database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        self.address.create_database(&format!("test_{}_{number}", process::id()))
    }

    /// Runs statements in a database, and gives what they answer: a line for each row, a `|` between columns.
    pub fn execute(&self, database: &str, statements: &str) -> String {
        self.address.execute(database, statements)
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
    fn check(self) -> Option<Address> {
        let address = Address::new(self.port);
        let data = address.try_to_execute("postgres", "SHOW data_directory").ok()?;
        (self.data == Path::new(&data)).then_some(address)
    }
}

/// `target/debug/shared-postgres`, for a test in `target/debug/deps`.
fn folder() -> PathBuf {
    let program = env::current_exe().expect("a program knows its path");
    program.ancestors().nth(2).expect("target/<profile>/deps/<test>").join("shared-postgres")
}

fn open(path: &Path) -> File {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    opened.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
