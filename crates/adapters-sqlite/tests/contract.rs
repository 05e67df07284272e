//! The contract of the storage port, on SQLite.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and so do its helpers")]

use std::sync::Arc;

use countersign_adapters_sqlite::{SqliteOptions, SqliteStorage};
use countersign_ports::Storage;
use tempfile::TempDir;

async fn database() -> TempDir {
    tempfile::tempdir().unwrap()
}

async fn open(folder: &TempDir) -> Arc<dyn Storage> {
    Arc::new(SqliteStorage::open(&folder.path().join("countersign.db"), SqliteOptions::default()).unwrap())
}

async fn fresh() -> (Arc<dyn Storage>, TempDir) {
    let folder = database().await;
    (open(&folder).await, folder)
}

countersign_conformance::storage_contract!(fresh());
countersign_conformance::storage_races!(fresh());
countersign_conformance::storage_durability!(database(), open);
countersign_conformance::storage_replicas!(database(), open);
