//! The reference store passes its own suites, and every clause is in a suite.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod reference;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use countersign_conformance::fakes::FakeSigner;
use countersign_conformance::memory::MemoryStorage;
use countersign_conformance::storage::event_acts;
use countersign_ports::Storage;

async fn fresh() -> (Arc<dyn Storage>, ()) {
    (Arc::new(MemoryStorage::default()), ())
}

async fn database() -> Arc<MemoryStorage> {
    Arc::default()
}

async fn open(database: &Arc<MemoryStorage>) -> Arc<dyn Storage> {
    Arc::<MemoryStorage>::clone(database)
}

countersign_conformance::storage_contract!(fresh());
countersign_conformance::storage_races!(fresh());
countersign_conformance::storage_durability!(database(), open);
countersign_conformance::storage_replicas!(database(), open);

countersign_conformance::signer_contract!(FakeSigner);

/// The commands that carry an event, and those that have such a command in them.
fn commands_with_an_event(ports: &str) -> BTreeSet<&str> {
    let mut commands = BTreeSet::new();
    loop {
        let before = commands.len();
        for part in ports.split("pub struct ").skip(1) {
            let name = part.split([' ', '{', '(', ';', '<']).next().unwrap();
            let fields =
                part.split("\n}").next().unwrap().lines().filter_map(|line| line.trim().split_once(": "));
            let mut types = fields.map(|(_, given)| given.trim_end_matches(','));
            if types.any(|given| given == "Option<Box<Event>>" || commands.contains(given)) {
                commands.insert(name);
            }
        }
        if commands.len() == before {
            return commands;
        }
    }
}

/// The trials are derived from the mark `recorded`, so a command that gets an event needs the mark.
#[test]
fn every_operation_that_takes_an_event_is_marked_and_so_has_its_trial() {
    let ports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ports/src");
    let rooms = fs::read_dir(&ports).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files = rooms.flat_map(|room| fs::read_dir(room).unwrap()).map(|entry| entry.unwrap().path());
    let files = files.map(|file| fs::read_to_string(file).unwrap()).collect::<Vec<_>>().join("\n");
    let commands = commands_with_an_event(&files);
    let table = fs::read_to_string(ports.join("operations.rs")).unwrap();
    let takes = table.lines().filter_map(|line| line.trim().split_once("(own command: "));
    let takes = takes.filter(|(_, rest)| commands.contains(rest.split(')').next().unwrap()));
    let operations: BTreeSet<_> = takes.map(|(name, _)| name).collect();
    assert_eq!(operations, event_acts::operations().into_iter().collect());
    assert!(operations.len() > 30 && commands.contains("ContinueSession"), "the search finds the commands");
}

#[test]
fn every_clause_is_listed_once() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let storage = fs::read_dir(source.join("storage")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = storage.map(|file| (file, "storage.rs")).collect();
    files.extend(["wallet.rs", "signer.rs"].map(|file| (source.join(file), file)));
    let mut clauses = 0;
    for (file, list) in files {
        let list = fs::read_to_string(source.join(list)).unwrap();
        for line in fs::read_to_string(&file).unwrap().lines() {
            let Some(rest) = line.strip_prefix("pub async fn ") else { continue };
            let clause = rest.split(['(', '<']).next().unwrap();
            let listed = list.lines().filter(|line| line.trim() == format!("{clause},")).count();
            assert_eq!(listed, 1, "{clause} of {}", file.display());
            clauses += 1;
        }
    }
    assert!(clauses > 100, "the search finds the clauses");
}
