//! Operations of several statements: one transaction, which a refusal can roll back.

use diesel::prelude::*;

use crate::error::{OpError, OpResult};

/// Carries out several statements as one transaction.
pub(crate) fn all_or_nothing<T>(
    connection: &mut PgConnection,
    steps: impl FnOnce(&mut PgConnection) -> Result<T, Undone<T>>,
) -> OpResult<T> {
    match connection.transaction(steps) {
        Ok(outcome) | Err(Undone::Refused(outcome)) => Ok(outcome),
        Err(Undone::Failed(error)) => Err(error),
    }
}

/// Why a transaction is rolled back.
pub(crate) enum Undone<T> {
    /// The outcome is a refusal.
    Refused(T),
    /// There is no outcome.
    Failed(OpError),
}

impl<T> From<diesel::result::Error> for Undone<T> {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error.into())
    }
}
