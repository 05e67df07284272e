//! `postgres://user:password@host/database`: for several replicas.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_adapters_postgres::{
    self as postgres, ConnectError, MigrateError, PgArchive, PgOptions, PgStorage, PgTarget, migrate,
};
use countersign_ports::{ArchiveError, ArchiveSource, ArchiveTarget};
use tokio::task::spawn_blocking;

use super::{DatabaseUrl, Examination, Found, OpenError, OpenStorage, StorageScheme, findings};

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
            // Opening it says why not.
            postgres::Found::Ours | postgres::Found::Unfinished => Found::Ours,
            postgres::Found::Nothing => Found::Empty,
        })
    }

    async fn examine(&self, url: &DatabaseUrl) -> Result<Examination, OpenError> {
        let url = url.expose().to_owned();
        let examined = spawn_blocking(move || postgres::examine(&url)).await;
        let examined = examined.map_err(|error| OpenError::Unusable(Box::new(error)))?.map_err(open_error)?;
        Ok(findings::postgres::examination(&examined))
    }

    async fn open(&self, url: &DatabaseUrl) -> Result<OpenStorage, OpenError> {
        let url = url.expose().to_owned();
        let opened = spawn_blocking(move || PgStorage::connect(&url, PgOptions::default())).await;
        let storage = opened.map_err(|error| OpenError::Unusable(Box::new(error)))?.map_err(open_error)?;
        let migrated = storage.migrated().to_vec();
        let closed = storage.clone();
        let closing =
            Box::new(move || -> super::ClosingFuture { Box::pin(async move { closed.shutdown().await }) });
        Ok(OpenStorage { storage: Arc::new(storage), writer: None, closing: Some(closing), migrated })
    }

    async fn migrate(&self, url: &DatabaseUrl) -> Result<Vec<String>, OpenError> {
        let url = url.expose().to_owned();
        let migrated = spawn_blocking(move || migrate(&url)).await;
        migrated.map_err(|error| OpenError::Unusable(Box::new(error)))?.map_err(open_error)
    }

    fn archive(&self, url: &DatabaseUrl) -> Result<Box<dyn ArchiveSource>, ArchiveError> {
        Ok(Box::new(PgArchive::open(url.expose())?))
    }

    fn archive_target(&self, url: &DatabaseUrl) -> Result<Box<dyn ArchiveTarget>, ArchiveError> {
        Ok(Box::new(PgTarget::at(url.expose())?))
    }
}

fn open_error(error: MigrateError) -> OpenError {
    // libpq and diesel pass on what the server says, and no codes.
    let said = crate::failure::chain(&error);
    if said.contains("permission denied for") {
        return OpenError::NotPermitted(Box::new(error));
    }
    match error {
        MigrateError::Connect(ConnectError::Refused(_))
            if said.contains("\" does not exist") && said.contains("database \"") =>
        {
            OpenError::NoSuchDatabase(Box::new(error))
        }
        MigrateError::Unfinished { .. } => OpenError::Unfinished(Box::new(error)),
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
        | MigrateError::TooOld(_)
        | MigrateError::Threads(_) => OpenError::Unusable(Box::new(error)),
    }
}
