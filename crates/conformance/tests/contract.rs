//! The reference store passes its own suites, and every clause is in a suite.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use countersign_conformance::fakes::FakeSigner;
use countersign_conformance::memory::MemoryStorage;
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
