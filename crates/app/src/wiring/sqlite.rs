//! `sqlite://path`: the embedded default.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use countersign_adapters_sqlite::{
    self as sqlite, SqliteArchive, SqliteOptions, SqliteStorage, SqliteTarget, WriteStats,
};
use countersign_metrics::WriterFigures;
use countersign_ports::{ArchiveError, ArchiveSource, ArchiveTarget};
use tokio::task::spawn_blocking;

use super::{DatabaseUrl, Examination, Found, OpenError, OpenStorage, StorageScheme, findings};
use crate::files::file_system;

/// SQLite in one file. `sqlite://data/a.db` is relative to the working directory; `sqlite:///data/a.db` is an
/// absolute path.
#[derive(Clone, Copy, Debug)]
pub struct SqliteScheme;

#[async_trait]
impl StorageScheme for SqliteScheme {
    fn schemes(&self) -> &'static [&'static str] {
        &["sqlite"]
    }

    fn check(&self, url: &DatabaseUrl) -> Result<(), String> {
        let path = url.rest();
        if path.is_empty() || path.ends_with('/') {
            return Err("it names no file".to_owned());
        }
        if path.contains(":memory:") || path.starts_with("file:") {
            return Err("a database in memory keeps nothing".to_owned());
        }
        if path.contains(['?', '#']) {
            return Err("SQLite's URL takes a path and no parameters".to_owned());
        }
        Ok(())
    }

    fn secret_file(&self, url: &DatabaseUrl) -> Option<PathBuf> {
        Some(PathBuf::from(format!("{}.secret", url.rest())))
    }

    /// With an absolute path: a relative one names another file in every folder.
    fn place(&self, url: &DatabaseUrl) -> String {
        match std::path::absolute(url.rest()) {
            Ok(path) => format!("sqlite://{}", path.display()),
            Err(_) => url.to_string(),
        }
    }

    fn warnings(&self, url: &DatabaseUrl) -> Vec<String> {
        let path = Path::new(url.rest());
        shared(path).into_iter().chain(exposed(path)).chain(replaceable(path)).collect()
    }

    async fn look(&self, url: &DatabaseUrl) -> Result<Found, OpenError> {
        let path = PathBuf::from(url.rest());
        let looked = spawn_blocking(move || sqlite::look(&path)).await;
        Ok(match looked.map_err(unusable)?.map_err(unusable)? {
            // Opening it says why not.
            sqlite::Found::Ours | sqlite::Found::Unfinished => Found::Ours,
            sqlite::Found::Nothing => Found::Nothing,
            sqlite::Found::Empty => Found::Empty,
            sqlite::Found::Foreign => Found::Foreign,
        })
    }

    async fn examine(&self, url: &DatabaseUrl) -> Result<Examination, OpenError> {
        let path = PathBuf::from(url.rest());
        let at = path.clone();
        let examined = spawn_blocking(move || sqlite::examine(&at)).await;
        Ok(findings::sqlite::examination(&path, &examined.map_err(unusable)?.map_err(unusable)?))
    }

    async fn has_keys(&self, url: &DatabaseUrl) -> Result<bool, OpenError> {
        let path = PathBuf::from(url.rest());
        let looked = spawn_blocking(move || sqlite::has_keys(&path)).await;
        looked.map_err(unusable)?.map_err(unusable)
    }

    async fn open(&self, url: &DatabaseUrl) -> Result<OpenStorage, OpenError> {
        let path = PathBuf::from(url.rest());
        let opened = spawn_blocking(move || SqliteStorage::open(&path, SqliteOptions::default())).await;
        let storage = Arc::new(opened.map_err(unusable)?.map_err(open_error)?);
        let closed = Arc::clone(&storage);
        // The metrics must not keep the database open, so they hold a weak reference.
        let known = Arc::downgrade(&storage);
        let writer = Box::new(move || known.upgrade().map(|storage| figures(&storage)));
        let closing =
            Box::new(move || -> super::ClosingFuture { Box::pin(async move { closed.shutdown().await }) });
        let migrated = storage.migrated().to_vec();
        Ok(OpenStorage { storage, writer: Some(writer), closing: Some(closing), migrated })
    }

    async fn migrate(&self, url: &DatabaseUrl) -> Result<Vec<String>, OpenError> {
        let path = PathBuf::from(url.rest());
        let migrated = spawn_blocking(move || sqlite::migrate(&path)).await;
        migrated.map_err(unusable)?.map_err(unusable)
    }

    fn archive(&self, url: &DatabaseUrl) -> Result<Box<dyn ArchiveSource>, ArchiveError> {
        Ok(Box::new(SqliteArchive::open(Path::new(url.rest()))?))
    }

    fn archive_target(&self, url: &DatabaseUrl) -> Result<Box<dyn ArchiveTarget>, ArchiveError> {
        Ok(Box::new(SqliteTarget::at(Path::new(url.rest()))?))
    }
}

/// The warning about a file system that does not keep SQLite's locks.
fn shared(path: &Path) -> Option<String> {
    let name = file_system::shared(path)?;
    Some(format!(
        "database_url: {} is on {name}, where locks and shared memory cannot be relied on: a second process, such as a \
         command, can destroy the database, and a write that was promised can be lost; put it on a local disk, or use \
         PostgreSQL",
        path.display()
    ))
}

/// The warning about a database that others on this machine can read or change. Its log has the same data. One that
/// others can change is refused when it is opened.
fn exposed(path: &Path) -> Option<String> {
    let modes = sqlite::files(path).into_iter().filter_map(|file| {
        let mode = std::fs::metadata(&file).ok()?.mode() & 0o777;
        (mode & OTHERS != 0).then_some((file, mode))
    });
    let (file, mode) = modes.into_iter().next()?;
    let file = file.display();
    Some(format!(
        "database_url: {file} has mode {mode:03o}, so others on this machine may read who signed in where, or change it; \
         run `chmod 600 {file}`"
    ))
}

/// The warning about a folder in which others can put another file in the place of the database.
fn replaceable(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let folder = path.parent()?;
    let mode = std::fs::metadata(folder).ok()?.mode() & 0o1777;
    let is_shared = mode & 0o022 != 0 && mode & STICKY == 0;
    is_shared.then(|| {
        let folder = folder.display();
        format!(
            "database_url: the folder {folder} has mode {mode:03o}, so others on this machine can put another file in the \
             place of the database; run `chmod 700 {folder}`"
        )
    })
}

/// In a folder with this bit, users cannot remove or rename the files of others.
const STICKY: u32 = 0o1000;

/// What everyone may do, and writing by the group. A group may read: that is how backups are made.
const OTHERS: u32 = 0o027;

fn figures(storage: &SqliteStorage) -> WriterFigures {
    let WriteStats { commits, commands, largest_batch, failures } = storage.write_stats();
    let waiting = u64::try_from(storage.waiting_writes()).unwrap_or(u64::MAX);
    WriterFigures { commits, commands, largest_batch, failures, waiting }
}

fn open_error(error: sqlite::OpenError) -> OpenError {
    let is_unfinished = matches!(error, sqlite::OpenError::Migrate(sqlite::MigrateError::Unfinished { .. }));
    let error = Box::new(error);
    if is_unfinished { OpenError::Unfinished(error) } else { OpenError::Unusable(error) }
}

fn unusable(error: impl std::error::Error + Send + Sync + 'static) -> OpenError {
    OpenError::Unusable(Box::new(error))
}
