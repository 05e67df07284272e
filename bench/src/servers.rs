//! Starts and stops the servers and databases that are measured.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use countersign_test_postgres::{Cluster, free_port};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::cell::{Database, Target};

const PATIENCE: Duration = Duration::from_secs(180);
/// The throw-away cluster is small. These settings are what `docs/scaling.md` advises for a machine with
/// eight gigabytes; the rest are defaults.
const SETTINGS: [&str; 2] =
    ["ALTER SYSTEM SET shared_buffers = '2GB'", "ALTER SYSTEM SET wal_compression = on"];
/// The operator's secret for servers on PostgreSQL, where it must be set.
const SECRET: &str = "YmVuY2htYXJrLWJlbmNobWFyay1iZW5jaG1hcmstMzI";

/// Something is missing or does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program, or a file beside it, cannot be used.
    #[error("{path} cannot be used")]
    File {
        /// The path.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The program ended, or does not answer.
    #[error("{program} does not answer; its log ends with:\n{log}")]
    Silent {
        /// The program.
        program: String,
        /// The end of its log.
        log: String,
    },
}

/// A folder for the databases of one run. It is removed with everything in it.
#[derive(Debug)]
pub struct Place {
    folder: TempDir,
    cluster: Option<Cluster>,
}

/// How to start one server, repeatedly, on one database.
#[derive(Clone, Debug)]
pub struct Launch {
    program: PathBuf,
    under: Vec<OsString>,
    workers: Option<usize>,
    settings: Vec<(&'static str, &'static str)>,
    target: Target,
    database_url: String,
    folder: PathBuf,
    bodies: PathBuf,
}

/// A running server. It is killed when this is dropped; its data are temporary.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The time from its start to its first answer.
    pub first_answer: Duration,
}

impl Place {
    /// Makes a folder, and for PostgreSQL a cluster.
    pub fn make(database: Database) -> Result<Self, StartError> {
        let folder = tempfile::Builder::new().prefix("countersign-bench-").tempdir();
        let folder = folder.map_err(|source| StartError::File { path: std::env::temp_dir(), source })?;
        let cluster = match database {
            Database::Sqlite => None,
            Database::Postgres => {
                let cluster = Cluster::start();
                for setting in SETTINGS {
                    cluster.execute("postgres", setting);
                }
                cluster.stop_fast();
                cluster.start_again();
                Some(cluster)
            }
        };
        Ok(Self { folder, cluster })
    }

    /// How to start a server here, on a database of its own. The floor's program is this one.
    pub fn launch(&self, target: Target, program: &Path) -> Launch {
        let name = match target {
            Target::Server => "server",
            Target::Floor => "floor",
        };
        let folder = self.folder.path().join(name);
        let database_url = match &self.cluster {
            None => format!("sqlite://{}/bench.db", folder.display()),
            Some(cluster) => cluster.create_database(),
        };
        let bodies = self.folder.path().join("bodies");
        Launch {
            program: program.to_owned(),
            under: Vec::new(),
            workers: None,
            settings: Vec::new(),
            target,
            database_url,
            folder,
            bodies,
        }
    }

    /// The folder with the database's files.
    pub fn data_folder(&self) -> PathBuf {
        match &self.cluster {
            None => self.folder.path().to_owned(),
            Some(cluster) => cluster.execute("postgres", "SHOW data_directory").trim().into(),
        }
    }

    /// The parent of all of PostgreSQL's processes.
    pub fn database_process(&self) -> Option<u32> {
        let first_line = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)";
        self.cluster.as_ref()?.execute("postgres", first_line).trim().parse().ok()
    }
}

impl Launch {
    /// The same, started by another program (its arguments come before the server's), with this many workers.
    pub fn under(self, words: Vec<OsString>, workers: usize) -> Self {
        Self { under: words, workers: Some(workers), ..self }
    }

    /// The same, with these settings as environment variables.
    pub fn with(self, settings: &[(&'static str, &'static str)]) -> Self {
        Self { settings: settings.to_vec(), ..self }
    }

    /// The server's program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Which server it starts.
    pub const fn target(&self) -> Target {
        self.target
    }

    /// The folder in which the server runs: its database, its log and whatever it writes.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the server on a free port and waits until it answers.
    pub async fn start(&self) -> Result<Server, StartError> {
        self.start_at((Ipv4Addr::LOCALHOST, free_port()).into()).await
    }

    /// Starts the server on the port that it had before, so that its issuer stays the same.
    pub async fn start_at(&self, address: SocketAddr) -> Result<Server, StartError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| StartError::File { path, source }
        };
        fs::create_dir_all(&self.folder).map_err(at(&self.folder))?;
        let log_path = self.folder.join("log");
        let log = File::create(&log_path).map_err(at(&log_path))?;
        let errors = log.try_clone().map_err(at(&log_path))?;
        let mut words = self.under.iter().map(OsString::as_os_str).chain([self.program.as_os_str()]);
        let first = words.next().unwrap_or_default();
        let mut command = Command::new(first);
        command.args(words);
        self.tell(&mut command, address);
        // A process group of its own: Ctrl-C at the terminal reaches only us, and we stop the server by its
        // id.
        command.current_dir(&self.folder).process_group(0).stdin(Stdio::null()).stdout(log).stderr(errors);
        let started = Instant::now();
        let child = command.spawn().map_err(at(Path::new(first)))?;
        let mut server = Server { child, address, first_answer: Duration::ZERO };
        while !answers(address) {
            let has_ended = !matches!(server.child.try_wait(), Ok(None));
            if has_ended || started.elapsed() > PATIENCE {
                return Err(StartError::Silent {
                    program: self.program.display().to_string(),
                    log: end_of(&log_path),
                });
            }
            sleep(Duration::from_millis(1)).await;
        }
        server.first_answer = started.elapsed();
        Ok(server)
    }

    /// The database's URL.
    pub fn database_url(&self) -> &str {
        &self.database_url
    }

    /// Tells a command of the operator which database it works on.
    pub fn operate(&self, command: &mut Command) {
        command.current_dir(&self.folder).env("COUNTERSIGN_DATABASE_URL", &self.database_url);
        if self.database_url.starts_with("postgres") {
            command.env("COUNTERSIGN_SECRET", SECRET);
        }
    }

    /// The folder with the answers that never change, which the floor copies.
    pub fn bodies(&self) -> &Path {
        &self.bodies
    }

    /// The size of the program.
    pub fn program_size(&self) -> u64 {
        fs::metadata(&self.program).map_or(0, |metadata| metadata.len())
    }

    fn tell(&self, command: &mut Command, address: SocketAddr) {
        match self.target {
            Target::Server => {
                command
                    .arg("serve")
                    .env("COUNTERSIGN_BIND", address.to_string())
                    .env("COUNTERSIGN_PUBLIC_URL", format!("http://localhost:{}", address.port()))
                    .env("COUNTERSIGN_RATE_LIMIT", "off")
                    // A trial server remembers what applications received; a server for users does not.
                    .env("COUNTERSIGN_PLAYGROUND", "off")
                    // Codes are made beforehand, and must stay valid until they are used.
                    .env("COUNTERSIGN_CODE_TTL", "600")
                    .env("COUNTERSIGN_CHALLENGE_TTL", "600")
                    // So must the tokens that a large database has (growth/fill.rs).
                    .env("COUNTERSIGN_ACCESS_TOKEN_TTL", "86400");
                command.envs(self.settings.iter().copied());
                if let Some(workers) = self.workers {
                    command.env("COUNTERSIGN_WORKERS", workers.to_string());
                }
                self.operate(command);
            }
            Target::Floor => {
                command.arg("floor").arg("--bind").arg(address.to_string());
                command.arg("--database").arg(&self.database_url);
                if self.bodies.exists() {
                    command.arg("--bodies").arg(&self.bodies);
                }
            }
        }
    }
}

impl Server {
    /// Its process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Stops it. If it has already ended by itself, the measurement has noticed.
    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// True if the server answers with 200.
fn answers(address: SocketAddr) -> bool {
    let ask = || -> io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let request = format!(
            "GET /.well-known/openid-configuration HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n",
            address.port()
        );
        stream.write_all(request.as_bytes())?;
        let mut beginning = [0; 12];
        stream.read_exact(&mut beginning)?;
        Ok(&beginning == b"HTTP/1.1 200")
    };
    ask().unwrap_or(false)
}

fn end_of(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}
