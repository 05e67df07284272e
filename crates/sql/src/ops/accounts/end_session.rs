//! People end their sessions.

use countersign_domain::id::UserId;
use countersign_ports::{EndSession, EndSessions};

use crate::columns::{Id, Key};
use crate::database::Statement;
use crate::ops::events::record_event::{act_and_record, record_about};
use crate::statement::statement;
use crate::{Database, SqlError};

/// Returns whether the session existed and was this user's.
pub fn end_session(db: &mut impl Database, command: &EndSession) -> Result<bool, SqlError> {
    let EndSession { user, id, event } = command;
    let event = event.as_deref().map(|event| event.clone().about(*user));
    act_and_record(db, event.as_ref(), |db| {
        Ok(DeleteSession { id: (*id).into(), user: (*user).into() }.run(db)? == 1)
    })
}

/// Returns how many sessions there were.
pub fn end_sessions(db: &mut impl Database, command: &EndSessions) -> Result<u64, SqlError> {
    let EndSessions { user, event } = command;
    db.all_or_nothing(|db| {
        let ended = end_of_user(db, *user)?;
        if ended > 0 {
            record_about(db, event.as_deref(), *user)?;
        }
        Ok(ended)
    })
}

/// Ends all sessions of a user in the transaction of the caller, and returns how many there were.
pub fn end_of_user(db: &mut impl Database, user: UserId) -> Result<u64, SqlError> {
    let ended = DeleteSessions { user: user.into() }.run(db)?;
    Ok(u64::try_from(ended).unwrap_or(u64::MAX))
}

statement! {
    /// One row if the session was this user's, none otherwise.
    DeleteSession { id: Id as Key, user: Id as Key } = "\
        DELETE FROM login_sessions WHERE id = :id AND user_id = :user"
}

statement! {
    /// One row for each session. Waits for operations that continue one of them.
    DeleteSessions { user: Id as Key },
    sqlite = "DELETE FROM login_sessions WHERE user_id = :user",
    postgres = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT id FROM login_sessions WHERE user_id = :user ORDER BY id FOR UPDATE \
        ) \
        DELETE FROM login_sessions USING theirs WHERE login_sessions.id = theirs.id"
}
