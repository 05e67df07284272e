//! What can fail in an adapter. Refusals are not errors, they are outcomes.

use std::error::Error;

/// The cause of an error, for the operator's log.
pub type Source = Box<dyn Error + Send + Sync>;

/// Storage could not carry out an operation.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database does not answer. The operation may or may not have happened; it can be repeated.
    #[error("storage is unavailable")]
    Unavailable(#[source] Source),
    /// Too many operations are waiting. This one did not happen.
    #[error("storage is overloaded")]
    Overloaded,
    /// A suspended operator signed this. Nothing was changed.
    #[error("a suspended operator signed this, so nothing was changed")]
    SignerSuspended,
    /// A row holds a value that we never write: something else wrote it.
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

/// No verdict on a signature was possible.
#[derive(Debug, thiserror::Error)]
pub enum VerifierError {
    /// A service that must be asked does not answer.
    #[error("wallet verifier is unavailable")]
    Unavailable(#[source] Source),
}
