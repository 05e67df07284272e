//! Operations of several statements: one transaction, which a refusal can roll back.

use countersign_domain::event::Event;
use countersign_domain::id::UserId;
use diesel::prelude::*;

use super::record_event::record;
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

/// Carries out an act that is one statement. If it has an event, this is one transaction, and the event is
/// recorded if the outcome is that of an act that was carried out.
pub(crate) fn act_and_record<T>(
    connection: &mut PgConnection,
    event: Option<&Event>,
    is_done: impl FnOnce(&T) -> bool,
    act: impl FnOnce(&mut PgConnection) -> OpResult<T>,
) -> OpResult<T> {
    if event.is_none() {
        return act(connection);
    }
    all_or_nothing(connection, |connection| {
        let outcome = act(connection).map_err(Undone::Failed)?;
        if is_done(&outcome) {
            record(connection, event)?;
        }
        Ok(outcome)
    })
}

/// The same for an event about this user, unless it is about somebody already.
pub(crate) fn act_and_record_about<T>(
    connection: &mut PgConnection,
    event: Option<&Event>,
    user: UserId,
    is_done: impl FnOnce(&T) -> bool,
    act: impl FnOnce(&mut PgConnection) -> OpResult<T>,
) -> OpResult<T> {
    let event = event.map(|event| event.clone().about(user));
    act_and_record(connection, event.as_ref(), is_done, act)
}

/// Why a transaction is rolled back.
pub(crate) enum Undone<T> {
    /// The outcome is a refusal.
    Refused(T),
    /// There is no outcome.
    Failed(OpError),
}

impl<T> From<OpError> for Undone<T> {
    fn from(error: OpError) -> Self {
        Self::Failed(error)
    }
}

impl<T> From<diesel::result::Error> for Undone<T> {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error.into())
    }
}
