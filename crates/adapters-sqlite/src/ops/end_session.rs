//! Remembered sign-ins end because their user wants it.

use countersign_domain::id::{SessionId, UserId};
use diesel::prelude::*;
use diesel::sql_types::Binary;

use super::sessions;
use super::statement::statement;
use crate::error::SqliteError;

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

/// The answer says whether the session was there, and this user's.
pub(crate) fn end_session(
    connection: &mut SqliteConnection,
    command: &EndSession,
) -> Result<bool, SqliteError> {
    let (user, id) = (command.user.as_uuid(), command.id.as_uuid());
    let ended = DeleteSessionOf { id: id.as_bytes(), user_id: user.as_bytes() }.execute(connection)?;
    Ok(ended == 1)
}

/// The answer says how many there were.
pub(crate) fn end_sessions(
    connection: &mut SqliteConnection,
    command: &EndSessions,
) -> Result<u64, SqliteError> {
    let ended = sessions::end_of_user(connection, command.user.as_uuid().as_bytes())?;
    Ok(u64::try_from(ended).unwrap_or(u64::MAX))
}

statement! {
    struct DeleteSessionOf<'a> {
        id: &'a [u8] as Binary,
        user_id: &'a [u8] as Binary,
    }
    "DELETE FROM login_sessions WHERE id = ? AND user_id = ?"
}
