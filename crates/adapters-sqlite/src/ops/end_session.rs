//! People end their sessions.

use countersign_domain::id::{SessionId, UserId};
use diesel::prelude::*;
use diesel::sql_types::Binary;

use super::sessions;
use crate::error::SqliteError;
use crate::statement::statement;

/// Ends one session of a user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndSession {
    pub(crate) user: UserId,
    pub(crate) id: SessionId,
}

/// Ends all sessions of a user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndSessions {
    pub(crate) user: UserId,
}

/// Returns whether the session existed and was this user's.
pub(crate) fn end_session(
    connection: &mut SqliteConnection,
    command: &EndSession,
) -> Result<bool, SqliteError> {
    let (user, id) = (command.user.as_uuid(), command.id.as_uuid());
    let ended = DeleteSession { id: id.as_bytes(), user_id: user.as_bytes() }.execute(connection)?;
    Ok(ended == 1)
}

/// Returns how many sessions there were.
pub(crate) fn end_sessions(
    connection: &mut SqliteConnection,
    command: &EndSessions,
) -> Result<u64, SqliteError> {
    let ended = sessions::end_of_user(connection, command.user.as_uuid().as_bytes())?;
    Ok(u64::try_from(ended).unwrap_or(u64::MAX))
}

statement! {
    DeleteSession<'a> {
        id: &'a [u8] as Binary,
        user_id: &'a [u8] as Binary,
    } = "DELETE FROM login_sessions WHERE id = :id AND user_id = :user_id"
}
