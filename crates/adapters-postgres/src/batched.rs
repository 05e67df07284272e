//! Operations that can be carried out for many commands at once.

use diesel::PgConnection;

use crate::error::OpResult;

/// A kind of operation that can be carried out for many commands at once.
pub(crate) trait Batched: Send + Sync + Sized + 'static {
    /// What one command results in.
    type Outcome: Send + 'static;

    /// No two commands of one batch may have one of these in common.
    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone;

    /// Carries out all of them as one statement. Returns an outcome for each, in their order; `None` for
    /// those that the statement left alone.
    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Self::Outcome>>>;

    /// Carries out this one by itself.
    fn alone(&self, connection: &mut PgConnection) -> OpResult<Self::Outcome>;
}
