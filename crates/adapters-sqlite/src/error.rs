//! What can go wrong, and how the ports report it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use countersign_group_commit::{StartError, SubmitError};
use countersign_ports::StoreError;
use countersign_sql::SqlError;
use countersign_sql::setup::migrate::{BeforeFirstRelease, SchemaError, Unfinished};
use diesel::result::{ConnectionError, DatabaseErrorKind, Error as QueryError};

/// The path cannot hold a database.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A database in memory would be lost when the process ends.
    #[error(
        "`{0}` would be a database in memory, which is lost when the server stops; give the path of a file"
    )]
    InMemory(String),
    /// SQLite needs paths in UTF-8.
    #[error("path {0:?} is not UTF-8")]
    NotUtf8(PathBuf),
    /// Others on this machine can change the database.
    #[error(
        "{path} has mode {mode:03o}: others on this machine can change who signed in where, or what they may do; run \
         `chmod 600 {path}`, and restore a backup if it may have been changed"
    )]
    Exposed {
        /// The database, or one of the files that SQLite keeps beside it.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file system refused.
    #[error("{path} could not be {attempted}")]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What was attempted.
        attempted: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// The database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The path, the folder or the file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The schema could not be brought up to date.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    /// A connection could not be opened or configured.
    #[error("SQLite database {path} could not be opened")]
    Connect {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The writer could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// The schema could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The path, the folder or the file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A connection could not be opened or configured.
    #[error("SQLite database {path} could not be opened")]
    Connect {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A migration failed. All of them were rolled back.
    #[error("migrations failed and were rolled back")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A restore or a copy did not finish.
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
    /// The database is of a build from before the first release.
    #[error(transparent)]
    TooOld(#[from] BeforeFirstRelease),
    /// A migration left rows that refer to nothing. All of them were rolled back.
    #[error("migrations left {rows} rows that refer to nothing and were rolled back")]
    DanglingReferences {
        /// How many.
        rows: usize,
    },
}

impl From<SchemaError> for MigrateError {
    fn from(error: SchemaError) -> Self {
        match error {
            SchemaError::Migration(source) => Self::Failed(source),
            SchemaError::Query(error) => error.into(),
            SchemaError::TooOld(error) => error.into(),
        }
    }
}

impl From<QueryError> for MigrateError {
    fn from(error: QueryError) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// An operation failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqliteError {
    #[error(transparent)]
    Sql(#[from] SqlError),
    #[error("connection failed")]
    Connection(#[from] ConnectionError),
    #[error("no connection for reading")]
    Pool(#[from] diesel::r2d2::PoolError),
    #[error("journal mode is `{0}` instead of `wal`")]
    NotWal(String),
    #[error("new user's id is taken")]
    UserIdTaken,
    #[error("checkpointer thread could not be started")]
    CheckpointerNotStarted(#[source] io::Error),
    #[error("database file cannot be watched")]
    File(#[source] FileError),
    #[error("{0} was removed, moved or replaced while the server had it open")]
    FileGone(PathBuf),
}

impl From<QueryError> for SqliteError {
    fn from(error: QueryError) -> Self {
        Self::Sql(error.into())
    }
}

impl SqliteError {
    /// Is the whole database out of order, rather than only this operation wrong?
    pub(crate) fn is_outage(&self) -> bool {
        match self {
            Self::Sql(SqlError::Query(QueryError::DatabaseError(
                DatabaseErrorKind::Unknown,
                information,
            ))) => OUTAGES.iter().any(|outage| information.message().contains(outage)),
            Self::Connection(_)
            | Self::Pool(_)
            | Self::NotWal(_)
            | Self::CheckpointerNotStarted(_)
            | Self::File(_)
            | Self::FileGone(_) => true,
            Self::Sql(_) | Self::UserIdTaken => false,
        }
    }
}

/// SQLite's messages for the result codes that mean "not now". Diesel passes on the messages, but not the
/// codes.
const OUTAGES: [&str; 9] = [
    "database is locked",
    "database table is locked",
    "database schema is locked",
    "locking protocol",
    "database or disk is full",
    "disk I/O error",
    "unable to open database file",
    "attempt to write a readonly database",
    "out of memory",
];

/// How the port reports an error of one caller, or of all callers of a batch.
pub(crate) fn store_error(error: Arc<SqliteError>) -> StoreError {
    if let SqliteError::Sql(SqlError::Corrupt { table, column, row }) = &*error {
        return StoreError::Corrupt { table, column, row: row.clone() };
    }
    if let SqliteError::Sql(SqlError::SignerSuspended) = &*error {
        return StoreError::SignerSuspended;
    }
    if error.is_outage() {
        StoreError::Unavailable(Box::new(error))
    } else {
        StoreError::Failed(Box::new(error))
    }
}

/// How the port reports a command that has no outcome.
pub(crate) fn refused(error: SubmitError<SqliteError>) -> StoreError {
    match error {
        SubmitError::Overloaded => StoreError::Overloaded,
        SubmitError::Stopped => StoreError::Unavailable(Box::new(error)),
        SubmitError::Broken => StoreError::Failed(Box::new(error)),
        SubmitError::Failed(error) => store_error(error),
    }
}
