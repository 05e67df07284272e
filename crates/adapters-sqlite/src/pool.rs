//! Connections and their settings: one that writes, one that copies the log, and a pool of those that read.

use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{ManageConnection, Pool};
use diesel::sql_types::Text;

use crate::error::SqliteError;
use crate::file::DatabaseFile;
use crate::options::SqliteOptions;

/// At how many frames the writer copies what is left of the log: 64 MiB, which is also the size to which the
/// file shrinks.
pub(crate) const WRITER_CHECKPOINT: i32 = 16_000;

/// The connections that read.
pub(crate) type Readers = Pool<ReaderOpener>;

/// Opens the connection that writes.
///
/// `synchronous = FULL` makes a commit wait for the disk, because an answer is a promise. Past
/// [`WRITER_CHECKPOINT`] frames a commit copies what the [checkpointer](crate::checkpointer) has left, and
/// the log starts over. After a burst its file shrinks to 64 MiB.
///
/// The cache has 16 MB here and 4 MB for each reader. Twice as much made nothing faster at ten million
/// tokens, where old rows come from the operating system's cache anyway, and it used up the memory that the
/// process may have.
pub(crate) fn connect_writer(
    file: &DatabaseFile,
    options: &SqliteOptions,
) -> Result<SqliteConnection, SqliteError> {
    let mut connection = connect(file, options.busy_timeout)?;
    let mode = diesel::sql_query("PRAGMA journal_mode = WAL").get_result::<JournalMode>(&mut connection)?;
    if mode.journal_mode != "wal" {
        return Err(SqliteError::NotWal(mode.journal_mode));
    }
    connection.batch_execute(&format!(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA wal_autocheckpoint = {WRITER_CHECKPOINT};
         PRAGMA journal_size_limit = 67108864;
         PRAGMA cache_size = -16000;
         PRAGMA temp_store = MEMORY;",
    ))?;
    Ok(connection)
}

/// Opens the connection that copies the log. Frames that it copied may be overwritten, so it waits for the
/// disk like the writer (`synchronous`). It reads no tables, and pages go from file to file without its
/// cache.
pub(crate) fn connect_checkpointer(
    file: &DatabaseFile,
    options: &SqliteOptions,
) -> Result<SqliteConnection, SqliteError> {
    let mut connection = connect(file, options.busy_timeout)?;
    connection.batch_execute("PRAGMA synchronous = FULL; PRAGMA cache_size = -16;")?;
    Ok(connection)
}

/// Opens the connections that read.
pub(crate) fn connect_readers(file: &DatabaseFile, options: &SqliteOptions) -> Result<Readers, SqliteError> {
    let pool = Pool::builder()
        .max_size(options.readers.max(1))
        // A file does not go away as a server does, and a check before each read would double its cost.
        .test_on_check_out(false)
        .connection_timeout(options.busy_timeout.max(Duration::from_millis(1)))
        .build(ReaderOpener { file: file.clone(), busy_timeout: options.busy_timeout })?;
    Ok(pool)
}

/// Opens a connection with no setting but how long to wait for others.
pub(crate) fn connect(file: &DatabaseFile, busy_timeout: Duration) -> Result<SqliteConnection, SqliteError> {
    let mut connection = SqliteConnection::establish(file.as_str())?;
    connection.batch_execute(&busy_timeout_pragma(busy_timeout))?;
    Ok(connection)
}

/// Opens a connection to a file that exists. Fails if there is none, and never creates one.
pub(crate) fn connect_existing(
    file: &DatabaseFile,
    busy_timeout: Duration,
) -> Result<SqliteConnection, SqliteError> {
    let mut connection = SqliteConnection::establish(&file.uri("mode=rw"))?;
    connection.batch_execute(&busy_timeout_pragma(busy_timeout))?;
    Ok(connection)
}

fn busy_timeout_pragma(busy_timeout: Duration) -> String {
    format!("PRAGMA busy_timeout = {};", busy_timeout.as_millis().min(600_000))
}

#[derive(QueryableByName)]
struct JournalMode {
    #[diesel(sql_type = Text)]
    journal_mode: String,
}

/// Opens connections that read.
#[derive(Debug)]
pub(crate) struct ReaderOpener {
    file: DatabaseFile,
    busy_timeout: Duration,
}

impl ManageConnection for ReaderOpener {
    type Connection = SqliteConnection;
    type Error = SqliteError;

    fn connect(&self) -> Result<SqliteConnection, SqliteError> {
        let mut connection = connect(&self.file, self.busy_timeout)?;
        // No memory mapping: SQLite removes it at every commit of another connection, and restoring it page
        // by page costs more than reading the pages (docs/adr/0005-what-is-linked-built-in-and-our-own.md).
        connection.batch_execute(
            "PRAGMA query_only = ON; PRAGMA cache_size = -4000; PRAGMA temp_store = MEMORY;",
        )?;
        Ok(connection)
    }

    /// A file does not go away as a server does.
    fn is_valid(&self, _reader: &mut SqliteConnection) -> Result<(), SqliteError> {
        Ok(())
    }

    fn has_broken(&self, _reader: &mut SqliteConnection) -> bool {
        std::thread::panicking()
    }
}
