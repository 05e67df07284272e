//! What can go wrong, and how the ports report it.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_group_commit::{StartError, SubmitError};
use countersign_ports::StoreError;
use diesel::result::{ConnectionError, DatabaseErrorKind, Error as QueryError};

use crate::file::FileError;

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
    #[error(
        "a {work} did not finish filling this database, so what is in it may not be what should be; run `countersign {work}` \
         again"
    )]
    Unfinished {
        /// Which work: `restore` or `copy`.
        work: String,
    },
    /// A migration left rows that refer to nothing. All of them were rolled back.
    #[error("migrations left {rows} rows that refer to nothing and were rolled back")]
    DanglingReferences {
        /// How many.
        rows: usize,
    },
}

impl From<QueryError> for MigrateError {
    fn from(error: QueryError) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// An operation failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqliteError {
    #[error("statement failed")]
    Query(#[from] QueryError),
    #[error("connection failed")]
    Connection(#[from] ConnectionError),
    #[error("no connection for reading")]
    Pool(#[from] diesel::r2d2::PoolError),
    #[error("stored {table} {row} has an impossible {column}")]
    Corrupt { table: &'static str, column: &'static str, row: String },
    #[error("journal mode is `{0}` instead of `wal`")]
    NotWal(String),
    #[error("new user's id is taken")]
    UserIdTaken,
    #[error("proposal is no longer this signature's, so nothing was changed")]
    ProposalTakenAway,
    #[error("checkpointer thread could not be started")]
    CheckpointerNotStarted(#[source] std::io::Error),
    #[error("database file cannot be watched")]
    File(#[source] FileError),
    #[error("{0} was removed, moved or replaced while the server had it open")]
    FileGone(PathBuf),
}

impl SqliteError {
    /// Is the whole database out of order, rather than only this operation wrong?
    pub(crate) fn is_outage(&self) -> bool {
        match self {
            Self::Query(QueryError::DatabaseError(DatabaseErrorKind::Unknown, information)) => {
                OUTAGES.iter().any(|outage| information.message().contains(outage))
            }
            Self::Connection(_)
            | Self::Pool(_)
            | Self::NotWal(_)
            | Self::CheckpointerNotStarted(_)
            | Self::File(_)
            | Self::FileGone(_) => true,
            Self::Query(_) | Self::Corrupt { .. } | Self::UserIdTaken | Self::ProposalTakenAway => false,
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
    match &*error {
        SqliteError::Corrupt { table, column, row } => {
            StoreError::Corrupt { table, column, row: row.clone() }
        }
        SqliteError::Query(_)
        | SqliteError::Connection(_)
        | SqliteError::Pool(_)
        | SqliteError::NotWal(_)
        | SqliteError::UserIdTaken
        | SqliteError::ProposalTakenAway
        | SqliteError::CheckpointerNotStarted(_)
        | SqliteError::File(_)
        | SqliteError::FileGone(_)
            if error.is_outage() =>
        {
            StoreError::Unavailable(Box::new(error))
        }
        SqliteError::Query(_)
        | SqliteError::Connection(_)
        | SqliteError::Pool(_)
        | SqliteError::NotWal(_)
        | SqliteError::UserIdTaken
        | SqliteError::ProposalTakenAway
        | SqliteError::CheckpointerNotStarted(_)
        | SqliteError::File(_)
        | SqliteError::FileGone(_) => StoreError::Failed(Box::new(error)),
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
