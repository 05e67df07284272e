//! The storage ports: commands go to the writer, look-ups to a reader.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use countersign_group_commit::{GroupCommit, Limits};
use countersign_ports::signatures::*;
use countersign_ports::{operation_argument, storage_operations};
use diesel::SqliteConnection;
use tokio::sync::Semaphore;

use crate::error::{MigrateError, OpenError, SqliteError, refused, store_error};
use crate::executor::{Command, Outcome, SqliteExecutor};
use crate::file::DatabaseFile;
use crate::ops;
use crate::options::SqliteOptions;
use crate::pool::{self, Readers};
use crate::setup::migrate;

/// What the writer has done since the database was opened.
pub use countersign_group_commit::Stats as WriteStats;

/// Storage in one SQLite file.
pub struct SqliteStorage {
    file: DatabaseFile,
    writer: Arc<GroupCommit<SqliteExecutor>>,
    readers: Readers,
    /// One permit for each reader, so that no more blocking threads are used than there are connections.
    reading: Arc<Semaphore>,
    /// One permit for each read that is running or waiting.
    admitted: Semaphore,
    migrated: Vec<String>,
}

impl SqliteStorage {
    /// Opens a database and brings its schema up to date. A file that does not exist is created, with its
    /// folder, readable by its owner only. Blocks: call it before serving, or from a thread that may block.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, OpenError> {
        let file = DatabaseFile::at(path)?;
        let migrated = migrate::run(&file)?;
        let connect = |error: SqliteError| OpenError::Connect { path: file.path(), source: Box::new(error) };
        let executor = SqliteExecutor::open(file.clone(), options).map_err(connect)?;
        let readers = pool::connect_readers(&file, &options).map_err(connect)?;
        let limits = Limits { queue: options.waiting_writes, batch: options.batch };
        let writer = Arc::new(GroupCommit::start("sqlite-writer", limits, executor)?);
        let (running, waiting) = (permits(options.readers.max(1)), permits(options.waiting_reads));
        Ok(Self {
            file,
            writer,
            readers,
            reading: Arc::new(Semaphore::new(running)),
            admitted: Semaphore::new(running.saturating_add(waiting).min(Semaphore::MAX_PERMITS)),
            migrated,
        })
    }

    /// The names of the migrations that ran when the database was opened.
    pub fn migrated(&self) -> &[String] {
        &self.migrated
    }

    /// Runs the migrations that the database does not have yet and returns their names. After
    /// [`SqliteStorage::open`] there are none. Blocks.
    pub fn migrate(&self) -> Result<Vec<String>, MigrateError> {
        migrate::run(&self.file)
    }

    /// What the writer has done so far.
    pub fn write_stats(&self) -> WriteStats {
        self.writer.stats()
    }

    /// How many writes are waiting for the writer now.
    pub fn waiting_writes(&self) -> usize {
        self.writer.waiting()
    }

    /// Accepts no more writes and carries out those that are waiting. Reads still work.
    pub async fn shutdown(&self) {
        let writer = Arc::clone(&self.writer);
        if let Err(error) = tokio::task::spawn_blocking(move || writer.shutdown()).await {
            tracing::error!(error = &error as &dyn std::error::Error, "waiting for the writer failed");
        }
    }

    async fn write(&self, command: Command) -> Result<Outcome, StoreError> {
        self.writer.submit(command).await.map_err(refused)
    }

    /// Looks something up. If a reader is free, the caller does it at once: reading a few rows by their keys
    /// costs less than waking another thread. Otherwise a thread that may block waits for a reader.
    async fn read<T: Send + 'static>(
        &self,
        look_up: impl FnOnce(&mut SqliteConnection) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _admitted = self.admitted.try_acquire().map_err(|_| StoreError::Overloaded)?;
        if let Ok(_turn) = self.reading.try_acquire()
            && let Some(mut reader) = self.readers.try_get()
        {
            return look_up(&mut reader).map_err(|error| store_error(Arc::new(error)));
        }
        let turn = Arc::clone(&self.reading)
            .acquire_owned()
            .await
            .map_err(|closed| StoreError::Unavailable(Box::new(closed)))?;
        let readers = self.readers.clone();
        let result = tokio::task::spawn_blocking(move || {
            let found = readers.get().map_err(SqliteError::from).and_then(|mut reader| look_up(&mut reader));
            // Returned here, not when the future ends: otherwise a caller who gives up would let one reader
            // too many in.
            drop(turn);
            found
        });
        match result.await {
            Ok(found) => found.map_err(|error| store_error(Arc::new(error))),
            Err(panicked) => Err(StoreError::Failed(Box::new(panicked))),
        }
    }
}

impl fmt::Debug for SqliteStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStorage")
            .field("file", &self.file)
            .field("writer", &self.writer)
            .finish_non_exhaustive()
    }
}

/// Makes the ports: what writes goes to the writer, what reads to a reader.
macro_rules! ports {
    ($(
        $(#[$on_port:meta])*
        $port:ident {
            $(writes { $(
                $(#[$on_write:meta])*
                $write:ident($($write_way:ident $write_argument:ident: $write_type:ty),* $(,)?)
                    -> $outcome:ty $([$($write_mark:ident),*])?;
            )* })?
            $(reads { $(
                $(#[$on_read:meta])*
                $read:ident($($read_way:ident $read_argument:ident: $read_type:ty),* $(,)?)
                    -> $found:ty $([$($read_mark:ident),*])?;
            )* })?
        }
    )*) => { $(
        #[async_trait]
        impl $port for SqliteStorage {
            $($(async fn $write(&self, $($write_argument: $write_type),*) -> Result<$outcome, StoreError> {
                let outcome = self.write(Command::$write { $($write_argument),* }).await?;
                if let Outcome::$write(outcome) = outcome { Ok(outcome) } else { Err(answered_another()) }
            })*)?
            $($(async fn $read(&self, $($read_argument: $read_type),*) -> Result<$found, StoreError> {
                $(let $read_argument = operation_argument!(keep $read_way $read_argument);)*
                self.read(move |reader| {
                    ops::$read(reader, $(operation_argument!(lend $read_way $read_argument)),*)
                        .map_err(SqliteError::from)
                })
                .await
            })*)?
        }
    )* };
}

storage_operations!(ports);

fn answered_another() -> StoreError {
    StoreError::Failed("writer answered another command".into())
}

fn permits(count: u32) -> usize {
    usize::try_from(count).unwrap_or(Semaphore::MAX_PERMITS)
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn more_reads_than_may_wait_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteOptions { readers: 1, waiting_reads: 0, ..SqliteOptions::default() };
        let storage = SqliteStorage::open(&folder.path().join("test.db"), options).unwrap();
        let the_only_turn = storage.reading.acquire().await.unwrap();

        let mut waiting = storage.signing_keys();
        let polled = std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await;
        assert!(polled.is_pending());
        assert!(matches!(storage.signing_keys().await, Err(StoreError::Overloaded)));

        drop(the_only_turn);
        assert_eq!(waiting.await.unwrap(), []);
    }
}
