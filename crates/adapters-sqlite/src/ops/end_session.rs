//! People end their sessions.

use countersign_ports::{EndSession, EndSessions};
use diesel::prelude::*;
use diesel::sql_types::Binary;

use super::record_event::record_about;
use super::sessions;
use crate::error::SqliteError;
use crate::statement::statement;

/// Returns whether the session existed and was this user's.
pub(crate) fn end_session(
    connection: &mut SqliteConnection,
    command: &EndSession,
) -> Result<bool, SqliteError> {
    let (user, id) = (command.user.as_uuid(), command.id.as_uuid());
    let ended = DeleteSession { id: id.as_bytes(), user_id: user.as_bytes() }.execute(connection)?;
    if ended == 0 {
        return Ok(false);
    }
    record_about(connection, command.event.as_deref(), command.user)?;
    Ok(true)
}

/// Returns how many sessions there were.
pub(crate) fn end_sessions(
    connection: &mut SqliteConnection,
    command: &EndSessions,
) -> Result<u64, SqliteError> {
    let ended = sessions::end_of_user(connection, command.user.as_uuid().as_bytes())?;
    if ended > 0 {
        record_about(connection, command.event.as_deref(), command.user)?;
    }
    Ok(u64::try_from(ended).unwrap_or(u64::MAX))
}

statement! {
    DeleteSession<'a> {
        id: &'a [u8] as Binary,
        user_id: &'a [u8] as Binary,
    } = "DELETE FROM login_sessions WHERE id = :id AND user_id = :user_id"
}
