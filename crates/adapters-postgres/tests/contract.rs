//! The contract of the storage port, on PostgreSQL: a fresh database for every clause.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use countersign_adapters_postgres::{PgOptions, PgStorage};
use countersign_ports::Storage;
use countersign_test_postgres::Cluster;

async fn fresh() -> (Arc<dyn Storage>, ()) {
    (open(&database().await).await, ())
}

async fn database() -> String {
    Cluster::shared().create_database()
}

async fn open(url: &str) -> Arc<dyn Storage> {
    Arc::new(PgStorage::connect(url, PgOptions::default()).unwrap())
}

countersign_conformance::storage_contract!(fresh());
countersign_conformance::storage_races!(fresh());
countersign_conformance::storage_durability!(database(), open);
countersign_conformance::storage_replicas!(database(), open);
