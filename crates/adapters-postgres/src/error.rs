//! What diesel reports, in the words of the port.

use countersign_ports::StoreError;
use diesel::result::DatabaseErrorKind;

/// Why an operation has no outcome.
#[derive(Debug)]
pub(crate) enum OpError {
    /// The database says so.
    Database(diesel::result::Error),
    /// A row cannot be.
    Corrupt(StoreError),
}

/// The result of an operation.
pub(crate) type OpResult<T> = Result<T, OpError>;

/// No answer came in time.
#[derive(Debug, thiserror::Error)]
#[error("database did not answer in time")]
pub(crate) struct OutOfPatience;

impl OpError {
    /// Is the connection of no more use, although another may be?
    ///
    /// A server that takes reads only was the primary before a failover.
    pub(crate) fn is_about_the_connection(&self) -> bool {
        use DatabaseErrorKind::{ClosedConnection, ReadOnlyTransaction, UnableToSendCommand};
        use diesel::result::Error::{BrokenTransactionManager, DatabaseError, RollbackErrorOnCommit};
        let Self::Database(error) = self else { return false };
        // A transaction that could be neither committed nor rolled back has its reason in the commit.
        let error = if let RollbackErrorOnCommit { commit_error, .. } = error { commit_error } else { error };
        matches!(
            error,
            BrokenTransactionManager
                | DatabaseError(ClosedConnection | UnableToSendCommand | ReadOnlyTransaction, _)
        )
    }

    /// Did another operation create the same key meanwhile?
    pub(crate) const fn is_taken_key(&self) -> bool {
        use diesel::result::Error::DatabaseError;
        matches!(self, Self::Database(DatabaseError(DatabaseErrorKind::UniqueViolation, _)))
    }

    /// Did the server give up for lack of time or space? diesel does not tell the SQLSTATE, so the words must do.
    fn is_about_resources(&self) -> bool {
        let Self::Database(diesel::result::Error::DatabaseError(_, information)) = self else { return false };
        ["canceling statement due to", "No space left on device", "deadlock detected"]
            .iter()
            .any(|words| information.message().contains(words))
    }
}

impl From<diesel::result::Error> for OpError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for OpError {
    fn from(error: StoreError) -> Self {
        Self::Corrupt(error)
    }
}

impl From<OpError> for StoreError {
    fn from(error: OpError) -> Self {
        let unavailable = error.is_about_the_connection() || error.is_about_resources();
        match error {
            OpError::Corrupt(error) => error,
            OpError::Database(error) if unavailable => Self::Unavailable(error.into()),
            OpError::Database(error) => Self::Failed(error.into()),
        }
    }
}
