//! `postgres://user:password@host/database`: for several replicas.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_adapters_postgres::{
    self as postgres, ConnectError, MigrateError, PgOptions, PgStorage, migrate,
};
use tokio::task::spawn_blocking;

use super::{DatabaseUrl, Found, OpenError, OpenStorage, StorageScheme};

/// PostgreSQL, with the URLs of libpq.
#[derive(Clone, Copy, Debug)]
pub struct PostgresScheme;

#[async_trait]
impl StorageScheme for PostgresScheme {
    fn schemes(&self) -> &'static [&'static str] {
        &["postgres", "postgresql"]
    }

    fn check(&self, _: &DatabaseUrl) -> Result<(), String> {
        Ok(())
    }

    /// There is none: replicas on several machines need the same secret.
    fn secret_file(&self, _: &DatabaseUrl) -> Option<PathBuf> {
        None
    }

    async fn look(&self, url: &DatabaseUrl) -> Result<Found, OpenError> {
        let url = url.expose().to_owned();
        let looked = spawn_blocking(move || postgres::look(&url)).await;
        let found = looked.map_err(|error| OpenError::Unusable(Box::new(error)))?.map_err(open_error)?;
        Ok(match found {
            postgres::Found::Ours => Found::Ours,
            postgres::Found::Nothing => Found::Empty,
        })
    }

    async fn open(&self, url: &DatabaseUrl) -> Result<OpenStorage, OpenError> {
        let url = url.expose().to_owned();
        let opened = spawn_blocking(move || PgStorage::connect(&url, PgOptions::default())).await;
        let storage = opened.map_err(|error| OpenError::Unusable(Box::new(error)))?.map_err(open_error)?;
        let migrated = storage.migrated().to_vec();
        Ok(OpenStorage { storage: Arc::new(storage), writer: None, closing: None, migrated })
    }

    async fn migrate(&self, url: &DatabaseUrl) -> Result<Vec<String>, OpenError> {
        let url = url.expose().to_owned();
        let migrated = spawn_blocking(move || migrate(&url)).await;
        migrated.map_err(|error| OpenError::Unusable(Box::new(error)))?.map_err(open_error)
    }
}

fn open_error(error: MigrateError) -> OpenError {
    match error {
        MigrateError::Connect(ConnectError::Refused(_)) | MigrateError::Lock(_) | MigrateError::Broken(_) => {
            OpenError::Unavailable(Box::new(error))
        }
        MigrateError::Connect(
            ConnectError::NotPostgres
            | ConnectError::NoSuchPooler
            | ConnectError::SharedSession
            | ConnectError::UnsafeDefaults,
        )
        | MigrateError::Failed(_)
        | MigrateError::NotPermitted(_)
        | MigrateError::Threads(_) => OpenError::Unusable(Box::new(error)),
    }
}
