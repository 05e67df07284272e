//! A database for one test, which the test can inspect from outside.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use countersign_test_postgres::{Cluster, Patroni, SharedCluster, build_of};
use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use serde_json::Value;
use tempfile::TempDir;

use crate::secrets::Secrets;
use crate::server::{OPERATOR_SECRET, Server, Settings, binary};
use crate::site::{Client, REDIRECT_URI};

/// A new database, with a folder for whatever its servers write.
#[derive(Clone, Debug)]
pub struct Database(Arc<Inner>);

struct Inner {
    store: Store,
    folder: TempDir,
    secrets: Arc<Secrets>,
}

/// What a server that was stopped leaves: the database, and the secret that opens its keys.
const SQLITE_FILES: [&str; 2] = ["countersign.db", "countersign.db.secret"];

/// The tables that a server writes to while it seals events, counts, and says that it runs.
const BY_ITSELF: [&str; 6] =
    ["fresh_events", "checkpoints", "leases", "day_counts", "hour_counts", "replicas"];

enum Store {
    Sqlite,
    Postgres { cluster: Owner, url: String },
}

enum Owner {
    Everybody(&'static SharedCluster),
    Test(Arc<Cluster>),
    Nodes(Arc<Patroni>),
}

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = Text)]
    word: String,
}

impl Database {
    /// A SQLite file that a server has used once: it has the tables, and a secret and keys that other tests have, too.
    pub fn sqlite() -> Self {
        let database = Self::new_sqlite();
        let used = used_sqlite();
        for file in SQLITE_FILES {
            fs::copy(used.join(file), database.folder().join(file)).unwrap();
        }
        database
    }

    /// A SQLite file that is not there yet. The first server creates it, with a secret and keys that nobody else has.
    pub fn new_sqlite() -> Self {
        Self::of(Store::Sqlite)
    }

    /// A database in the cluster that all tests share, which a server has used once: it has the tables, and keys that
    /// other tests have, too.
    pub fn postgres() -> Self {
        let cluster = Cluster::shared();
        let used = |url: String| Self::of(Store::Postgres { url, cluster: Owner::Everybody(cluster) });
        used(cluster.create_prepared_database(&binary(), |url| used(url.to_owned()).use_once()))
    }

    /// An empty database in the cluster that all tests share. The first server makes the tables, and keys that nobody else
    /// has.
    pub fn new_postgres() -> Self {
        let cluster = Cluster::shared();
        Self::of(Store::Postgres { url: cluster.create_database(), cluster: Owner::Everybody(cluster) })
    }

    /// A database in the test's own cluster, which the test can stop.
    pub fn in_cluster(cluster: &Arc<Cluster>) -> Self {
        Self::of(Store::Postgres {
            url: cluster.create_database(),
            cluster: Owner::Test(Arc::clone(cluster)),
        })
    }

    /// Like [`Self::in_cluster`], but the servers connect with the URL that `url` makes from the database's
    /// name.
    pub fn reached_by(cluster: &Arc<Cluster>, url: impl FnOnce(&str) -> String) -> Self {
        let direct = cluster.create_database();
        let name = direct.rsplit('/').next().unwrap_or_default();
        Self::of(Store::Postgres { url: url(name), cluster: Owner::Test(Arc::clone(cluster)) })
    }

    /// A database in a PostgreSQL of several nodes. Its servers go through HAProxy, unless a setting says otherwise.
    pub fn of_nodes(patroni: &Arc<Patroni>) -> Self {
        let name = patroni.create_database();
        let url = format!("postgres://postgres@127.0.0.1:{}/{name}", patroni.port());
        Self::of(Store::Postgres { url, cluster: Owner::Nodes(Arc::clone(patroni)) })
    }

    /// A new database of the same kind, whose servers have other keys.
    #[must_use]
    pub fn sibling(&self) -> Self {
        if self.is_postgres() { Self::new_postgres() } else { Self::new_sqlite() }
    }

    fn of(store: Store) -> Self {
        Self(Arc::new(Inner { store, folder: tempfile::tempdir().unwrap(), secrets: Arc::default() }))
    }

    /// The settings of a server on this database, which is not started yet.
    pub fn server(&self) -> Settings {
        Settings::new(self)
    }

    /// Starts a server with the settings that most tests use.
    pub fn start(&self) -> Server {
        self.server().start()
    }

    /// Starts a server, and stops it when it is ready.
    fn use_once(&self) {
        let stopped = self.start().terminate();
        assert!(stopped.success(), "the first server on {}: {stopped}", self.url());
    }

    /// Is this PostgreSQL?
    pub fn is_postgres(&self) -> bool {
        matches!(self.0.store, Store::Postgres { .. })
    }

    /// The value of `COUNTERSIGN_DATABASE_URL`.
    pub fn url(&self) -> String {
        match &self.0.store {
            Store::Sqlite => format!("sqlite://{}", self.folder().join("countersign.db").display()),
            Store::Postgres { url, .. } => url.clone(),
        }
    }

    /// A client that the operator registers at the command line.
    #[track_caller]
    pub fn let_in(&self) -> Client {
        Client::of(&self.let_in_for(&["profile", "email"]))
    }

    /// The same for given scopes; returns the output of the command.
    #[track_caller]
    pub fn let_in_for(&self, scopes: &[&str]) -> Value {
        self.create_client(&["--redirect-uri", REDIRECT_URI, "--scope", &scopes.join(" ")])
    }

    /// Runs `client create` with these arguments, and returns its output.
    #[track_caller]
    pub fn create_client(&self, arguments: &[&str]) -> Value {
        self.operate(&[&["client", "create", "--name", "Photo Album"], arguments].concat())
    }

    /// Runs a command of the operator that must succeed, with `--output json`, and returns its output.
    #[track_caller]
    pub fn operate(&self, arguments: &[&str]) -> Value {
        let done = self.operator(arguments).args(["--output", "json"]).output().unwrap();
        let said = |output| String::from_utf8_lossy(output).into_owned();
        assert!(done.status.success(), "{arguments:?}: {}{}", said(&done.stderr), said(&done.stdout));
        let answer = serde_json::from_slice(&done.stdout).unwrap();
        self.secrets().learn_json(&answer);
        answer
    }

    /// A command of the operator for this database, not yet run.
    pub fn operator(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.current_dir(self.folder()).env("COUNTERSIGN_DATABASE_URL", self.url()).args(arguments);
        if self.is_postgres() {
            command.env("COUNTERSIGN_SECRET", OPERATOR_SECRET);
        }
        command
    }

    /// Where servers of this database run and write their logs.
    pub fn folder(&self) -> &Path {
        self.0.folder.path()
    }

    /// The secrets that passed through any server of this database.
    pub fn secrets(&self) -> Arc<Secrets> {
        Arc::clone(&self.0.secrets)
    }

    /// How many rows each table has that somebody's requests write to. A server seals events by itself: it moves them
    /// from one table to another, which are counted as one. Others that it writes to by itself are not counted. It also
    /// notes, some seconds late, that a client's secret is in use: of these rows, those of other secrets are counted.
    pub fn rows(&self) -> BTreeMap<String, i64> {
        let counted = self.tables().into_iter().filter(|table| !BY_ITSELF.contains(&table.as_str()));
        let count = |table: &str| {
            match table {
            "events" => "SELECT (SELECT count(*) FROM fresh_events WHERE kind <> 'key_activated') \
                 + (SELECT count(*) FROM events WHERE kind <> 'key_activated')"
                .to_owned(),
            "client_secrets" => "SELECT count(*) FROM client_secrets WHERE NOT EXISTS (SELECT 1 FROM clients \
                 WHERE clients.id = client_id AND hash IN (secret_hash, coalesce(old_secret_hash, secret_hash)))"
                .to_owned(),
            _ => format!("SELECT count(*) FROM {table}"),
        }
        };
        counted.map(|table| (table.clone(), self.number(&count(&table)))).collect()
    }

    /// The number that a query returns.
    pub fn number(&self, sql: &str) -> i64 {
        let answer = match &self.0.store {
            Store::Sqlite => self.words(&format!("SELECT CAST(({sql}) AS TEXT) AS word")).concat(),
            Store::Postgres { .. } => self.words(sql).concat(),
        };
        answer.parse().unwrap_or_else(|error| panic!("{sql}: {error} in {answer}"))
    }

    /// Changes stored data. Tests move times with it if they cannot wait that long.
    pub fn change(&self, sql: &str) {
        match &self.0.store {
            Store::Sqlite => self.connection().batch_execute(sql).unwrap(),
            Store::Postgres { .. } => {
                self.words(sql);
            }
        }
    }

    /// Everything in the database: the bytes of SQLite's files, or every row of PostgreSQL as text.
    pub fn dump(&self) -> Vec<u8> {
        if self.is_postgres() {
            let rows = self
                .tables()
                .into_iter()
                .flat_map(|table| self.words(&format!("SELECT t::text FROM {table} t")));
            return rows.collect::<Vec<_>>().join("\n").into_bytes();
        }
        let files = ["countersign.db", "countersign.db-wal"].map(|name| self.folder().join(name));
        files.iter().filter(|file| file.exists()).flat_map(|file| fs::read(file).unwrap()).collect()
    }

    /// Every row of every table as text in lower case, by table. Ids have no hyphens.
    pub fn texts(&self) -> BTreeMap<String, Vec<String>> {
        let texts = |table: String| {
            let row = self.row_of(&table, &[]);
            let rows = self.words(&format!("SELECT {row} AS word FROM {table} t")).into_iter();
            let rows = rows.map(|row| row.to_lowercase().replace('-', "")).collect();
            (table, rows)
        };
        self.tables().into_iter().map(texts).collect()
    }

    /// What writes a row of a table `t` as text, in a query, without these columns.
    pub fn row_of(&self, table: &str, without: &[&str]) -> String {
        if self.is_postgres() && without.is_empty() {
            return r"replace(t::text, E'\n', ' ')".to_owned();
        }
        if self.is_postgres() {
            let without: String = without.iter().map(|column| format!(" - '{column}'")).collect();
            return format!(r"replace((to_jsonb(t){without})::text, E'\n', ' ')");
        }
        let columns = self.words(&format!("SELECT name AS word FROM pragma_table_info('{table}')"));
        let columns = columns.iter().filter(|column| !without.contains(&column.as_str()));
        columns.map(|column| format!("quote(\"{column}\")")).collect::<Vec<_>>().join(" || ' ' || ")
    }

    fn tables(&self) -> Vec<String> {
        self.words(match self.0.store {
            Store::Sqlite => "SELECT name AS word FROM sqlite_master WHERE type = 'table' ORDER BY name",
            Store::Postgres { .. } => {
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
            }
        })
    }

    /// A connection to SQLite's file.
    fn connection(&self) -> SqliteConnection {
        let path = self.folder().join("countersign.db");
        let mut connection = SqliteConnection::establish(&path.display().to_string()).unwrap();
        connection.batch_execute("PRAGMA busy_timeout = 10000").unwrap();
        connection
    }

    /// The first column of each row. In SQLite it must be called `word`.
    pub fn words(&self, sql: &str) -> Vec<String> {
        match &self.0.store {
            Store::Sqlite => {
                let words: Vec<Word> = sql_query(sql)
                    .load(&mut self.connection())
                    .unwrap_or_else(|error| panic!("{sql}: {error}"));
                words.into_iter().map(|row| row.word).collect()
            }
            Store::Postgres { cluster, url } => {
                let server = url.split('?').next().unwrap_or_default();
                let name = server.rsplit('/').next().unwrap_or_default();
                let answer = match cluster {
                    Owner::Everybody(cluster) => cluster.execute(name, sql),
                    Owner::Test(cluster) => cluster.execute(name, sql),
                    Owner::Nodes(patroni) => patroni.execute(name, sql),
                };
                answer.lines().map(ToOwned::to_owned).collect()
            }
        }
    }
}

/// The folder of a SQLite file that this build of the server has used once. The first process that asks makes it.
fn used_sqlite() -> PathBuf {
    let binary = binary();
    let folder = binary.with_file_name("used-sqlite");
    let used = folder.join(build_of(&binary));
    if used.exists() {
        return used;
    }
    fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    if !used.exists() {
        let database = Database::new_sqlite();
        database.use_once();
        // By this mark a server tells how far its clock moved while it was away. Whoever gets a copy was never there.
        database.change("DELETE FROM time_mark");
        let whole = tempfile::tempdir_in(&folder).unwrap();
        for file in SQLITE_FILES {
            fs::copy(database.folder().join(file), whole.path().join(file)).unwrap();
        }
        fs::rename(whole.keep(), &used).unwrap();
    }
    used
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.store {
            Store::Sqlite => "sqlite",
            Store::Postgres { .. } => "postgres",
        })
    }
}
