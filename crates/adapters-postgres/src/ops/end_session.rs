//! People end their sessions.

use countersign_ports::{EndSession, EndSessions};
use diesel::prelude::*;
use diesel::sql_types::Uuid as SqlUuid;
use uuid::Uuid;

use super::transaction::act_and_record_about;
use crate::error::OpResult;
use crate::statement::statement;

/// Returns whether the session existed and was this user's.
pub(crate) fn end_session(connection: &mut PgConnection, command: &EndSession) -> OpResult<bool> {
    let EndSession { user, id, event } = command;
    act_and_record_about(
        connection,
        event.as_deref(),
        *user,
        |was_there| *was_there,
        |connection| Ok(DeleteSession { id: id.as_uuid(), user: user.as_uuid() }.execute(connection)? == 1),
    )
}

/// Returns how many sessions there were.
pub(crate) fn end_sessions(connection: &mut PgConnection, command: &EndSessions) -> OpResult<u64> {
    let EndSessions { user, event } = command;
    act_and_record_about(
        connection,
        event.as_deref(),
        *user,
        |ended| *ended > 0,
        |connection| {
            let ended = DeleteSessions { user: user.as_uuid() }.execute(connection)?;
            Ok(u64::try_from(ended).unwrap_or(u64::MAX))
        },
    )
}

statement! {
    /// One row if the session was this user's, none otherwise.
    DeleteSession { id: Uuid as SqlUuid, user: Uuid as SqlUuid } = "\
        DELETE FROM login_sessions WHERE id = :id AND user_id = :user"
}

statement! {
    /// One row for each session. Waits for operations that continue one of them.
    DeleteSessions { user: Uuid as SqlUuid } = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT id FROM login_sessions WHERE user_id = :user ORDER BY id FOR UPDATE \
        ) \
        DELETE FROM login_sessions USING theirs WHERE login_sessions.id = theirs.id"
}
