//! Litestream copies the log of a SQLite file to another place while a server writes. Its program, from PyPI, runs beside
//! the server and its checkpointer, both are killed, and the copy has everything that was acknowledged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::Database;
use countersign_tests::load::Load;
use countersign_tests::server::project;

use crate::events::wait_for;

const THREADS: usize = 4;
/// How many requests each round acknowledges: the log starts over in between.
const REQUESTS: usize = 2_000;
/// Litestream copies every second.
const COPIED: Duration = Duration::from_secs(3);

fn litestream() -> Command {
    let program = project().join("tests/peers/.venv/bin/litestream");
    assert!(program.exists(), "{} is missing: run `make test`, which installs it", program.display());
    Command::new(program)
}

/// Litestream, until this is dropped.
struct Copying(Child);

impl Copying {
    fn start(database: &Path, copy: &str, log: &Path) -> Self {
        let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut replicate = litestream();
        replicate.arg("replicate").arg(database).arg(copy).stdin(Stdio::null());
        Self(replicate.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap())
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_copy_that_litestream_made_has_everything_that_was_acknowledged() {
    let database = Database::sqlite();
    let file = database.folder().join("countersign.db");
    let (place, log) = (database.folder().join("copy"), database.folder().join("litestream.log"));
    let place = format!("file://{}", place.display());
    let mut server = database.start();
    let mut ledgers = Vec::new();
    for round in 0..2 {
        let copying = Copying::start(&file, &place, &log);
        let load = Load::start(&[server.site()], THREADS);
        let began = Instant::now();
        load.wait_for(REQUESTS);
        let ledger = load.stop();
        let length = fs::metadata(file.with_extension("db-wal")).map_or(0, |log| log.len());
        println!(
            "{} requests in {:?}, slowest {:?}; the log has {length} bytes",
            ledger.acknowledged(),
            began.elapsed(),
            ledger.slowest()
        );
        assert_eq!((ledger.unavailable(), ledger.broken()), (0, vec![]), "copying disturbs nobody");
        ledgers.push(ledger);
        // What happened before this test began would be late otherwise.
        wait_for("the events are sealed", || database.number("SELECT count(*) FROM checkpoints") > 0);
        thread::sleep(COPIED);
        if round == 0 {
            // Both go on where they were.
            server.kill9();
            drop(copying);
            server.restart();
        }
    }
    server.kill9();

    let restored = Database::new_sqlite();
    let target = restored.folder().join("countersign.db");
    let done = litestream().args(["restore", "-o"]).arg(&target).arg(&place).output().unwrap();
    let told = fs::read_to_string(&log).unwrap();
    assert!(done.status.success(), "{}\n{told}", String::from_utf8_lossy(&done.stderr));
    // Whoever restores says who can read the file, and brings the secret back.
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    let secret: PathBuf = restored.folder().join("countersign.db.secret");
    fs::copy(database.folder().join("countersign.db.secret"), &secret).unwrap();
    let verified = restored.operate(&["event", "verify"]);
    assert_eq!(verified["holds"], true, "{verified}");
    let restored = restored.server().with_public_url(&server.public_url).start();
    for ledger in ledgers {
        ledger.hold_against(&restored);
    }
}
