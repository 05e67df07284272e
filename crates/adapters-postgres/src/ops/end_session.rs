//! People end their sessions.

use countersign_domain::id::{SessionId, UserId};
use diesel::prelude::*;
use diesel::sql_types::Uuid as SqlUuid;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn end_session(connection: &mut PgConnection, user: UserId, id: SessionId) -> OpResult<bool> {
    Ok(DeleteSession { id: id.as_uuid(), user: user.as_uuid() }.execute(connection)? == 1)
}

pub(crate) fn end_sessions(connection: &mut PgConnection, user: UserId) -> OpResult<u64> {
    let ended = DeleteSessions { user: user.as_uuid() }.execute(connection)?;
    Ok(u64::try_from(ended).unwrap_or(u64::MAX))
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
