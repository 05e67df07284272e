//! What can fail in an adapter. A refusal is not among it: refusals are outcomes.

use std::error::Error;

/// The cause, for the operator's log.
pub type Source = Box<dyn Error + Send + Sync>;

/// Storage could not carry out an operation.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database does not answer. The operation may or may not have happened; it can be repeated.
    #[error("storage is unavailable")]
    Unavailable(#[source] Source),
    /// Too much waits already; the operation did not happen.
    #[error("storage is overloaded")]
    Overloaded,
    /// A row that cannot be: somebody else wrote it.
    #[error("stored {table} {row} has an impossible {column}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row's key.
        row: String,
    },
    /// The database answered with an error that no operation should cause.
    #[error("storage failed")]
    Failed(#[source] Source),
}

/// A token could not be signed.
#[derive(Debug, thiserror::Error)]
pub enum SignerError {
    /// The key cannot be used.
    #[error("token could not be signed")]
    Failed(#[source] Source),
}

/// No verdict on a signature could be found.
#[derive(Debug, thiserror::Error)]
pub enum VerifierError {
    /// What must be asked does not answer.
    #[error("wallet verifier is unavailable")]
    Unavailable(#[source] Source),
}
