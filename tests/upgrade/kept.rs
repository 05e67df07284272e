//! The files that are kept of a release: a SQLite file, or what `pg_dump` writes, both compressed, and what must hold.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use countersign_test_postgres::{Cluster, program};
use countersign_tests::server::{OPERATOR_SECRET, Settings};
use countersign_tests::{Database, clock};
use serde_json::Value;

/// The issuer's URL, which all that is kept belongs to.
const PUBLIC_URL: &str = "http://localhost:8080";

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// A release's database of one kind, in a folder.
#[derive(Debug)]
pub(crate) struct Kept {
    folder: PathBuf,
    kind: Kind,
}

impl Kept {
    pub(crate) fn new(folder: &Path, kind: Kind) -> Self {
        Self { folder: folder.to_owned(), kind }
    }

    /// An empty database to fill, which is then kept.
    pub(crate) fn empty(&self) -> Database {
        match self.kind {
            Kind::Sqlite => {
                let database = Database::new_sqlite();
                put_secret(&database);
                database
            }
            Kind::Postgres => Database::in_cluster(&Arc::new(Cluster::start())),
        }
    }

    /// Keeps a database that no server uses any more, and what must hold in it.
    pub(crate) fn keep(&self, database: &Database, known: &Value) {
        let dump = match self.kind {
            Kind::Sqlite => {
                // The server moved everything into this one file when it stopped.
                assert!(
                    !database.folder().join("countersign.db-wal").exists(),
                    "the server stopped in order"
                );
                File::open(database.folder().join("countersign.db")).unwrap().into()
            }
            Kind::Postgres => {
                let mut dump = Command::new(program("pg_dump"));
                dump.args(["--no-owner", "--no-privileges", "--dbname"]).arg(database.url());
                Stdio::from(dump.stdout(Stdio::piped()).spawn().unwrap().stdout.unwrap())
            }
        };
        let gzip =
            Command::new("gzip").args(["-9", "--no-name"]).stdin(dump).stdout(self.create("gz")).status();
        assert!(gzip.unwrap().success());
        writeln!(self.create("json"), "{known:#}").unwrap();
    }

    /// What must hold.
    pub(crate) fn known(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path("json")).unwrap()).unwrap()
    }

    /// A copy of the database, at a time that is so many seconds from now.
    pub(crate) fn copy(&self, offset: i64) -> Database {
        let packed = File::open(self.path("gz")).unwrap();
        let mut unpack = Command::new("gzip");
        unpack.arg("-dc").stdin(packed).stdout(Stdio::piped());
        let mut unpack = unpack.spawn().unwrap();
        let mut unpacked = unpack.stdout.take().unwrap();
        let database = match self.kind {
            Kind::Sqlite => {
                let database = Database::new_sqlite();
                put_secret(&database);
                let mut file = private(&database.folder().join("countersign.db"));
                std::io::copy(&mut unpacked, &mut file).unwrap();
                database
            }
            Kind::Postgres => {
                let database = Database::in_cluster(&Arc::new(Cluster::start_with(&clock::off_by(offset))));
                let mut load = Command::new(program("psql"));
                load.args(["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname"])
                    .arg(database.url());
                assert!(load.stdin(unpacked).stdout(Stdio::null()).status().unwrap().success());
                database
            }
        };
        assert!(unpack.wait().unwrap().success());
        database
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.kind.name()))
    }

    fn create(&self, ending: &str) -> File {
        File::create_new(self.path(ending)).unwrap()
    }
}

/// A server of a database that is kept. Events stay, however old they are.
pub(crate) fn server(database: &Database) -> Settings {
    database.server().with_public_url(PUBLIC_URL).with_env("COUNTERSIGN_EVENT_RETENTION", "315360000")
}

/// The secret is in a file, as SQLite has it, so that commands find it, too.
fn put_secret(database: &Database) {
    let mut file = private(&database.folder().join("countersign.db.secret"));
    writeln!(file, "{OPERATOR_SECRET}").unwrap();
}

fn private(path: &Path) -> File {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).unwrap()
}
