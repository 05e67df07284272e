//! What can go wrong in a shared operation. Each adapter has more errors, of its connections.

/// A shared operation failed.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// The database reports an error.
    #[error("statement failed")]
    Query(#[from] diesel::result::Error),
    /// A row is impossible.
    #[error("stored {table} {row} has an impossible {column}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The key.
        row: String,
    },
    /// Another server took the proposal that this carries out. Nothing was changed.
    #[error("proposal is no longer this signature's, so nothing was changed")]
    ProposalTakenAway,
    /// A suspended operator signed an act. Nothing was changed.
    #[error("a suspended operator signed this, so nothing was changed")]
    SignerSuspended,
    /// The event of an act is stored already. Nothing was changed.
    #[error("event of this act is stored already, so nothing was changed: it is about an earlier act")]
    EventThere,
}
