//! What can go wrong, and how the ports report it.

use std::sync::Arc;

use countersign_ports::StoreError;
use countersign_sql::SqlError;
use diesel::result::DatabaseErrorKind;

/// No connection could be opened.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL is not one for PostgreSQL.
    #[error("database URL must start with postgres:// or postgresql://")]
    NotPostgres,
    /// The server does not answer, or refuses. The reason is libpq's, without anything that it quotes.
    #[error("PostgreSQL refuses the connection: {0}")]
    Refused(String),
    /// The URL's `pooler` has an unknown value.
    #[error("pooler in the database URL must be session or transaction")]
    NoSuchPooler,
    /// Two connections share one session, and the URL does not say to expect that.
    #[error(
        "a pooler lends out each session for one transaction; add pooler=transaction to the parameters of the database \
         URL (after ? or &), or set the pooler to sessions (docs/scaling.md)"
    )]
    SharedSession,
    /// The server's defaults are not safe, and the pooler would lose our settings.
    #[error(
        "with pooler=transaction the role must have safe defaults: ALTER ROLE ... SET synchronous_commit = on, and SET \
         default_transaction_isolation = 'read committed' (docs/scaling.md)"
    )]
    UnsafeDefaults,
}

/// An operation failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct OpError(#[from] SqlError);

/// The result of an operation.
pub(crate) type OpResult<T> = Result<T, OpError>;

/// The server gives up because it has no time or space left.
const OUT_OF_RESOURCES: [&str; 2] = ["canceling statement due to", "No space left on device"];

/// The server's words when a statement waited too long for a lock.
const LOCKED_OUT: &str = "canceling statement due to lock timeout";

/// No answer came in time.
#[derive(Debug, thiserror::Error)]
#[error("database did not answer in time")]
pub(crate) struct OutOfPatience;

impl OpError {
    /// Is the connection no longer any good, although another one may be?
    ///
    /// A server that has become read-only was the primary before a failover.
    pub(crate) fn is_about_the_connection(&self) -> bool {
        use DatabaseErrorKind::{ClosedConnection, ReadOnlyTransaction, UnableToSendCommand};
        use diesel::result::Error::{BrokenTransactionManager, DatabaseError, RollbackErrorOnCommit};
        let SqlError::Query(error) = &self.0 else { return false };
        // If a transaction could be neither committed nor rolled back, the reason is in the commit.
        let error = if let RollbackErrorOnCommit { commit_error, .. } = error { commit_error } else { error };
        matches!(
            error,
            BrokenTransactionManager
                | DatabaseError(ClosedConnection | UnableToSendCommand | ReadOnlyTransaction, _)
        )
    }

    /// Does another session hold a lock that the statement needs? It waited a moment and did nothing, so it
    /// can be tried again.
    pub(crate) fn is_locked_out(&self) -> bool {
        self.says(&[LOCKED_OUT])
    }

    /// Would every other command fail in the same way?
    pub(crate) fn is_outage(&self) -> bool {
        self.is_about_the_connection() || self.says(&OUT_OF_RESOURCES)
    }

    /// Did another operation create the same key in the meantime?
    pub(crate) const fn is_taken_key(&self) -> bool {
        use diesel::result::Error::DatabaseError;
        matches!(self.0, SqlError::Query(DatabaseError(DatabaseErrorKind::UniqueViolation, _)))
    }

    /// Does the server's message contain one of these? Diesel does not pass on the SQLSTATE, so the words
    /// must do.
    fn says(&self, words: &[&str]) -> bool {
        let SqlError::Query(diesel::result::Error::DatabaseError(_, information)) = &self.0 else {
            return false;
        };
        words.iter().any(|words| information.message().contains(words))
    }
}

/// An error that several callers share.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Shared(Arc<StoreError>);

impl From<StoreError> for Shared {
    fn from(error: StoreError) -> Self {
        Self(Arc::new(error))
    }
}

impl Shared {
    /// The error for one of them.
    pub(crate) fn copy(&self) -> StoreError {
        match &*self.0 {
            StoreError::Unavailable(_) => StoreError::Unavailable(self.clone().into()),
            StoreError::Overloaded => StoreError::Overloaded,
            StoreError::SignerSuspended => StoreError::SignerSuspended,
            StoreError::Corrupt { table, column, row } => {
                StoreError::Corrupt { table, column, row: row.clone() }
            }
            StoreError::Failed(_) => StoreError::Failed(self.clone().into()),
        }
    }
}

impl From<diesel::result::Error> for OpError {
    fn from(error: diesel::result::Error) -> Self {
        Self(error.into())
    }
}

impl From<OpError> for StoreError {
    fn from(error: OpError) -> Self {
        let unavailable = error.is_outage() || error.says(&["deadlock detected"]);
        match error.0 {
            SqlError::Corrupt { table, column, row } => Self::Corrupt { table, column, row },
            SqlError::SignerSuspended => Self::SignerSuspended,
            error @ (SqlError::ProposalTakenAway | SqlError::EventThere) => Self::Failed(error.into()),
            SqlError::Query(error) if unavailable => Self::Unavailable(error.into()),
            SqlError::Query(error) => Self::Failed(error.into()),
        }
    }
}
