//! Processes of the real binary.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub use countersign_test_postgres::free_port;

use crate::clock;
use crate::database::Database;
use crate::site::Site;

/// The operator's secret in tests: 32 bytes in base64url.
pub const OPERATOR_SECRET: &str = "dGhpcyBpcyB0aGUgc2VjcmV0IG9mIGFsbCB0aGUgdGVzdHM";

/// The settings of a server that is not started yet.
#[derive(Clone, Debug)]
pub struct Settings {
    database: Database,
    environment: Vec<(String, String)>,
    /// How many seconds its clock is off.
    clock: i64,
    public_url: Option<String>,
    /// Shell commands to run before the server, such as limits and ignored signals.
    before: Option<String>,
    program: PathBuf,
    /// The socket that this test keeps and hands over to the server, as a supervisor does.
    socket: Option<Arc<TcpListener>>,
}

/// A process and its address. When this is dropped, the process is stopped and its log is searched for
/// secrets.
#[derive(Debug)]
pub struct Server {
    settings: Settings,
    site: Site,
    process: Option<Child>,
    log: PathBuf,
}

impl Settings {
    pub(crate) fn new(database: &Database) -> Self {
        Self {
            database: database.clone(),
            environment: Vec::new(),
            clock: 0,
            public_url: None,
            before: None,
            program: binary(),
            socket: None,
        }
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the public URL. By default it is the server's own address.
    #[must_use]
    pub fn with_public_url(mut self, url: &str) -> Self {
        self.public_url = Some(url.to_owned());
        self
    }

    /// Runs another program than the one that was built with this test, such as that of a release.
    #[must_use]
    pub fn with_binary(mut self, program: &Path) -> Self {
        program.clone_into(&mut self.program);
        self
    }

    /// Lets a shell run this command before the server, such as `ulimit -n 256`.
    #[must_use]
    pub fn after(mut self, words: &str) -> Self {
        self.before = Some(words.to_owned());
        self
    }

    /// Keeps the server's socket open while the server restarts, as systemd does.
    #[must_use]
    pub fn with_kept_socket(mut self) -> Self {
        self.socket = Some(Arc::new(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()));
        // The protocol of sd_listen_fds(3): the socket is descriptor 3.
        self.after("export LISTEN_FDS=1 LISTEN_PID=$$; exec 3<&0 0</dev/null")
    }

    /// Starts the process and waits until it is ready.
    #[track_caller]
    pub fn start(self) -> Server {
        let port = self.socket.as_ref().map_or_else(free_port, |kept| kept.local_addr().unwrap().port());
        let site = Site {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            public_url: self.public_url.clone().unwrap_or_else(|| format!("http://localhost:{port}")),
            secrets: self.database.secrets(),
        };
        let log = self.database.folder().join(format!("server-{port}.log"));
        let mut server = Server { settings: self, site, process: None, log };
        server.restart();
        server
    }
}

impl Server {
    /// A server on its own SQLite file.
    pub fn sqlite() -> Self {
        Database::sqlite().start()
    }

    /// A server on its own PostgreSQL database.
    pub fn postgres() -> Self {
        Database::postgres().start()
    }

    /// Another process on the same database, with the same public URL.
    #[track_caller]
    pub fn replica(&self) -> Self {
        self.settings.clone().with_public_url(&self.site.public_url).start()
    }

    /// From its next start on, the server's clock is off by so many seconds.
    pub fn set_clock(&mut self, seconds: i64) {
        self.settings.clock = seconds;
    }

    /// The server's address, which can be moved to other threads.
    pub fn site(&self) -> Site {
        self.site.clone()
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.settings.database
    }

    /// Restarts the process on the same port, and waits until it is ready.
    #[track_caller]
    pub fn restart(&mut self) {
        self.spawn();
        self.wait_until_ready();
    }

    /// Starts the process without waiting.
    pub fn spawn(&mut self) {
        let log = OpenOptions::new().create(true).append(true).open(&self.log).unwrap();
        let program = &self.settings.program;
        let mut command = match &self.settings.before {
            None => Command::new(program),
            Some(words) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(format!("{words}; exec \"$0\" \"$@\"")).arg(program);
                shell
            }
        };
        command.arg("serve").current_dir(self.settings.database.folder()).env_clear();
        for name in ["PATH", "HOME", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("COUNTERSIGN_BIND", self.site.address.to_string())
            .env("COUNTERSIGN_PUBLIC_URL", &self.site.public_url)
            .env("COUNTERSIGN_DATABASE_URL", self.settings.database.url())
            .env("COUNTERSIGN_LOG_FORMAT", "json")
            .env("COUNTERSIGN_RATE_LIMIT", "off");
        if self.settings.database.is_postgres() {
            command.env("COUNTERSIGN_SECRET", OPERATOR_SECRET);
        }
        command.envs(self.settings.environment.iter().cloned());
        command.envs(clock::off_by(self.settings.clock));
        let input = match &self.settings.socket {
            None => Stdio::null(),
            Some(kept) => OwnedFd::from(kept.try_clone().unwrap()).into(),
        };
        command.stdin(input).stdout(clone(&log)).stderr(log);
        let process = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        self.process = Some(process);
    }

    /// Waits until `/health/ready` says that the server is ready.
    #[track_caller]
    pub fn wait_until_ready(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if self.is_ready() {
                return;
            }
            if let Some(status) = self.process.as_mut().and_then(|process| process.try_wait().unwrap()) {
                panic!("the server exited with {status}:\n{}", self.log_tail());
            }
            assert!(
                Instant::now() < deadline,
                "the server is not ready after half a minute:\n{}",
                self.log_tail()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The process's id.
    pub fn process_id(&self) -> u32 {
        self.process.as_ref().expect("the server runs").id()
    }

    /// Has the process exited by itself?
    pub fn has_ended(&mut self) -> bool {
        self.ends_within(Duration::ZERO)
    }

    /// Does the process exit by itself within this time?
    pub fn ends_within(&mut self, patience: Duration) -> bool {
        self.process.as_mut().is_none_or(|process| ended_within(process, patience).is_some())
    }

    /// Runs `kill -9`: nothing is finished or flushed.
    pub fn kill9(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Asks the process to stop, and waits until it has exited.
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.process.take().expect("the server runs").wait().unwrap()
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        signal(name, self.process_id());
    }

    /// Everything in the server's log.
    pub fn log(&self) -> Vec<u8> {
        fs::read(&self.log).unwrap_or_default()
    }

    /// What the log says about panics, and its last lines.
    fn log_tail(&self) -> String {
        let log = String::from_utf8_lossy(&self.log()).into_owned();
        let lines: Vec<&str> = log.lines().collect();
        let panics = lines.iter().enumerate().filter(|(_, line)| line.contains("panicked"));
        let panics = panics.flat_map(|(place, _)| lines.iter().skip(place).take(3)).take(12);
        let end = lines.iter().skip(lines.len().saturating_sub(25));
        panics
            .chain(end)
            .map(|line| line.chars().take(600).collect::<String>())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl Deref for Server {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill9();
        if thread::panicking() {
            eprintln!("--- the end of {}:\n{}", self.log.display(), self.log_tail());
            return;
        }
        let log = self.log();
        let found = self.site.secrets.found_in(&log);
        let places: Vec<String> =
            found.iter().map(|(kind, place)| format!("{kind}: …{}…", around(&log, *place))).collect();
        assert!(found.is_empty(), "A-010: the log contains secrets:\n{}", places.join("\n"));
    }
}

/// How a process ended, if it did within this time.
pub fn ended_within(process: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + patience;
    loop {
        match process.try_wait().unwrap() {
            None if Instant::now() < deadline => thread::sleep(Duration::from_millis(20)),
            ended => return ended,
        }
    }
}

/// Sends a signal to a process.
pub fn signal(name: &str, process: u32) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(status.success(), "kill -{name} {process}");
}

/// The binary that was built with this test.
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let binary = profile.join("countersign");
    assert!(
        binary.is_file(),
        "{} is missing: run `make test` or `cargo build -p countersign-app` first",
        binary.display()
    );
    binary
}

/// The root folder of the project.
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the project")
}

fn clone(file: &File) -> File {
    file.try_clone().map_err(|error: io::Error| error.to_string()).unwrap()
}

fn around(log: &[u8], place: usize) -> String {
    String::from_utf8_lossy(&log[place.saturating_sub(200)..log.len().min(place + 60)]).into_owned()
}
