//! The first hour as the documentation tells it. Every command that a reader would paste runs here: in order, and for
//! each document from an empty folder of its own, with a server beside it. `tests/transcripts` shows what the terminal
//! prints; `UPDATE_DOCS=1` rewrites those files.
//!
//! A block of commands that cannot run here comes after a line `<!-- not run: why -->`.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use countersign_tests::server::{binary, free_port, project, signal};
use countersign_tests::{Database, Site};
use tempfile::TempDir;

/// Documents for people who change Countersign itself.
const NOT_FOR_NEWCOMERS: [&str; 4] = [
    "docs/adding-a-storage-adapter.md",
    "docs/adding-a-wallet-scheme.md",
    "docs/mutation-testing.md",
    "docs/testing.md",
];

/// What differs from run to run, in the words of `sed -E`.
const DIFFERS: [&str; 11] = [
    // A QR code: each of its lines but the last has a light edge on both sides.
    "/^█[ ▀▄█]*█$/d",
    "s/^▀+$/<QR code>/",
    "s/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?/<time>/g",
    "s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/<id>/g",
    "s/eyJ[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+/<token>/g",
    "s/0x[0-9a-f]{130}/<signature>/g",
    "s/0x[0-9a-fA-F]{40}/<address>/g",
    "s/[A-Za-z0-9_-]{40,}/<random>/g",
    "s/^workers +[0-9]+/workers  2/",
    "s/   +/  /g",
    "s/[[:space:]]+$//",
];

/// What ends a block that starts a server. The reader goes on in another terminal, with the same environment.
const SERVES: &str = "countersign serve";

/// A block of commands in a document.
struct Block {
    line: usize,
    commands: String,
    /// Why the block does not run here.
    not_run: Option<String>,
}

/// The blocks of commands in a document.
fn blocks(document: &str) -> Vec<Block> {
    let text = fs::read_to_string(project().join(document)).unwrap();
    let mut lines = text.lines().enumerate();
    let mut blocks = Vec::new();
    let mut not_run = None;
    while let Some((place, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            let line = line.trim_start();
            let reason = line.strip_prefix("<!-- not run: ").and_then(|rest| rest.strip_suffix(" -->"));
            let is_between = line.is_empty() || line.starts_with("<!--");
            not_run = reason.map(str::to_owned).or(not_run.filter(|_| is_between));
            continue;
        };
        let margin = line.len() - line.trim_start().len();
        let body = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```");
        let commands: Vec<&str> = body.map(|line| line.get(margin..).unwrap_or_default()).collect();
        if ["sh", "bash", "console"].contains(&language) {
            blocks.push(Block { line: place + 1, commands: commands.join("\n"), not_run: not_run.take() });
        }
    }
    blocks
}

/// A newcomer's terminal, in an empty folder, and the servers that were started there.
struct Terminal {
    folder: TempDir,
    /// The environment that one block leaves to the next. It is in a folder that the newcomer does not see.
    state: TempDir,
    database: Option<Database>,
    servers: Vec<(u16, Child)>,
    /// The first client that a command registered.
    client: Option<String>,
}

impl Terminal {
    /// Opens the terminal after `make run`: a server runs on SQLite in `./data`.
    fn open() -> Self {
        let [folder, state] = [(); 2].map(|()| TempDir::new().unwrap());
        let mut terminal = Self { folder, state, database: None, servers: Vec::new(), client: None };
        terminal.keep("unset COUNTERSIGN_SECRET");
        terminal.serve(
            &format!(
                "export COUNTERSIGN_PUBLIC_URL={BASE} COUNTERSIGN_DATABASE_URL=sqlite://data/countersign.db"
            ),
            SERVES,
        );
        terminal
    }

    fn environment(&self) -> PathBuf {
        self.state.path().join("environment")
    }

    fn keep(&self, commands: &str) {
        fs::write(self.environment(), commands).unwrap();
    }

    /// The words of a document, with the addresses that are true here.
    fn meant(&mut self, words: &str, port: u16) -> String {
        let mut words = words.replace(BASE, &format!("http://localhost:{port}"));
        if let Some(client) = &self.client {
            words = words.replace(CLIENT, client);
        }
        match words.contains(OTHER_DATABASE) {
            true => {
                let database = self.database.get_or_insert_with(Database::new_postgres);
                words.replace(OTHER_DATABASE, &database.url())
            }
            false => words,
        }
    }

    fn port(&self) -> u16 {
        self.servers.last().map_or(0, |(port, _)| *port)
    }

    /// A shell that goes on where the last one ended.
    fn shell(&self, commands: &str, output: Stdio, errors: Stdio) -> Command {
        let environment = self.environment();
        let environment = environment.display();
        let path = format!("{}:{}", binary().parent().unwrap().display(), std::env::var("PATH").unwrap());
        let script = format!(
            "set -euo pipefail\nsource {environment}\ntrap 'declare -px > {environment}' EXIT\nset -a\n{commands}"
        );
        let mut shell = Command::new("bash");
        shell
            .args(["-c", &script])
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env_remove("COUNTERSIGN_SECRET");
        shell.stdin(Stdio::null()).stdout(output).stderr(errors);
        shell
    }

    /// Runs the commands and returns what they print. The shell must end well.
    fn run(&mut self, block: &Block, document: &str) -> String {
        let (commands, serves) = match block.commands.rfind(SERVES) {
            Some(place) => {
                let (before, serves) = block.commands.split_at(place);
                (before.trim_end().trim_end_matches("&&"), Some(serves))
            }
            None => (block.commands.as_str(), None),
        };
        let commands = self.meant(commands, self.port());
        let place = |name| self.state.path().join(name);
        let [output, errors] = ["output", "errors"].map(place);
        let [to_output, to_errors] = [&output, &errors].map(|path| File::create(path).unwrap().into());
        let status = self.shell(&commands, to_output, to_errors).status().unwrap();
        // On a terminal, which of the two comes first depends on the moment.
        let printed = [errors, output].map(|path| fs::read_to_string(path).unwrap()).concat();
        assert!(status.success(), "{document}:{}: {status}\n{commands}\n{printed}", block.line);
        let mut words = printed.split_whitespace().skip_while(|word| *word != "client_id");
        self.client = self.client.take().or_else(|| words.nth(1).map(str::to_owned));
        if let Some(command) = serves {
            self.serve("", command);
        }
        printed
    }

    /// Starts a server in the background and waits until it is ready.
    fn serve(&mut self, settings: &str, command: &str) {
        let port = free_port();
        let settings = self.meant(settings, port);
        let log = File::create(self.state.path().join(format!("{port}.log"))).unwrap();
        let errors = log.try_clone().unwrap();
        let commands = format!(
            "{settings}\nexport COUNTERSIGN_BIND=127.0.0.1:{port}\ndeclare -px > {}\nexec {command}",
            self.environment().display()
        );
        let server = self.shell(&commands, log.into(), errors.into()).spawn().unwrap();
        self.servers.push((port, server));
        let site = Site {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            public_url: format!("http://localhost:{port}"),
            secrets: Arc::default(),
        };
        let ready = (0..300).any(|_| {
            thread::sleep(Duration::from_millis(50));
            site.is_ready()
        });
        let said = || fs::read_to_string(self.state.path().join(format!("{port}.log"))).unwrap();
        assert!(ready, "the server did not start:\n{}", said());
    }

    /// What was printed, as every run prints it.
    fn settled(&self, printed: &str) -> String {
        let mut settled = printed.replace(&self.folder.path().display().to_string(), "~");
        if let Some(database) = &self.database {
            settled = settled.replace(&database.url(), OTHER_DATABASE);
        }
        for (port, _) in &self.servers {
            settled = settled.replace(&port.to_string(), "8080");
        }
        let file = self.state.path().join("settled");
        fs::write(&file, settled).unwrap();
        let expressions = DIFFERS.iter().flat_map(|expression| ["-e", expression]);
        let sed = Command::new("sed").arg("-E").args(expressions).arg(&file).output().unwrap();
        assert!(sed.status.success(), "{}", String::from_utf8_lossy(&sed.stderr));
        String::from_utf8(sed.stdout).unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        for (_, server) in &mut self.servers {
            signal("TERM", server.id());
            let _ = server.wait();
        }
    }
}

/// Runs a document and returns its transcript; `None` if it has no commands that run.
fn transcript(document: &str) -> Option<String> {
    let blocks: Vec<Block> = blocks(document).into_iter().filter(|block| block.not_run.is_none()).collect();
    if blocks.is_empty() {
        return None;
    }
    let mut terminal = Terminal::open();
    let mut transcript =
        format!("The commands of {document}, and what they print. A test writes this file.\n");
    for block in &blocks {
        let printed = terminal.run(block, document);
        let prompt = format!("$ {}", block.commands.replace('\n', "\n> "));
        transcript.extend(["\n", &prompt, "\n", &terminal.settled(&printed)]);
    }
    Some(transcript)
}

/// The documents that newcomers read.
fn documents() -> Vec<String> {
    let folder = fs::read_dir(project().join("docs")).unwrap().flatten();
    let names = folder.map(|entry| format!("docs/{}", entry.file_name().to_string_lossy()));
    let is_for_them = |name: &String| name.ends_with(".md") && !NOT_FOR_NEWCOMERS.contains(&name.as_str());
    let mut documents: Vec<String> = names.filter(is_for_them).collect();
    documents.sort();
    documents
}

fn file_of(document: &str) -> PathBuf {
    let name = Path::new(document).file_stem().unwrap().to_string_lossy().to_lowercase();
    project().join(format!("tests/transcripts/{name}.txt"))
}

#[test]
fn every_command_of_the_documentation_prints_what_its_transcript_shows() {
    let updates = std::env::var_os("UPDATE_DOCS").is_some();
    let mut differ = Vec::new();
    let mut ran = 0;
    for document in documents() {
        let file = file_of(&document);
        let Some(transcript) = transcript(&document) else {
            assert!(!file.exists(), "{document} has no commands, but {} is there", file.display());
            continue;
        };
        ran += 1;
        if updates {
            fs::write(&file, &transcript).unwrap();
        } else if fs::read_to_string(&file).ok().as_ref() != Some(&transcript) {
            differ.push(format!("{}:\n{transcript}", file.display()));
        }
    }
    assert!(ran >= 5, "only {ran} documents have commands that run");
    assert!(differ.is_empty(), "UPDATE_DOCS=1 rewrites the transcripts:\n{}", differ.join("\n"));
}

/// The server's address in the documentation.
const BASE: &str = "http://localhost:8080";
/// The client in the documentation.
const CLIENT: &str = "01a1fd8c-6900-7000-8000-599900000001";
/// The PostgreSQL database in the documentation.
const OTHER_DATABASE: &str = "postgres://countersign@db/countersign";
