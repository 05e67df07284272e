//! The contract of the storage port, on PostgreSQL: a new database with the whole schema for every clause.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::sync::Arc;

use countersign_adapters_postgres::{PgOptions, PgStorage, migrate};
use countersign_ports::Storage;
use countersign_test_postgres::Cluster;

async fn fresh() -> (Arc<dyn Storage>, ()) {
    (open(&database().await).await, ())
}

async fn database() -> String {
    Cluster::shared().create_prepared_database(&env::current_exe().unwrap(), |url| {
        migrate(url).unwrap();
    })
}

async fn open(url: &str) -> Arc<dyn Storage> {
    Arc::new(PgStorage::connect(url, PgOptions::default()).unwrap())
}

countersign_conformance::storage_contract!(fresh());
countersign_conformance::storage_races!(fresh());
countersign_conformance::storage_durability!(database(), open);
countersign_conformance::storage_replicas!(database(), open);
