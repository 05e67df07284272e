//! A person signs out at a client's request.

use countersign_domain::grant::RevocationReason;
use countersign_domain::id::UserId;
use countersign_ports::{EndSession, SessionClient, SignOut};

use super::end_session::end_session;
use super::wallets::lock_user;
use crate::columns::{At, Id, Key, Moment, Row, StoredId, Text};
use crate::database::Statement;
use crate::ops::events::record_event::record_about;
use crate::statement::statement;
use crate::{Database, SqlError};

/// The session is deleted first. That waits for operations that are continuing it, and their grants are seen
/// afterwards. Returns whether the session existed and was this user's.
pub fn sign_out(db: &mut impl Database, command: &SignOut) -> Result<bool, SqlError> {
    let SignOut { user, session, keeps, now, ref event } = *command;
    db.all_or_nothing(|db| {
        // A user who does not exist has nothing, so the rest finds nothing.
        lock_user(db, user)?;
        let was_there = end_session(db, &EndSession { user, id: session, event: None })?;
        let end = EndGrants {
            user: user.into(),
            session: session.into(),
            keeps: &format!(" {} ", keeps.name()),
            now: At(now),
            reason: RevocationReason::SignedOut.name(),
        };
        end.run(db)?;
        if was_there {
            record_about(db, event.as_deref(), user)?;
        }
        Ok(was_there)
    })
}

/// Live grants are found by the index `grants_by_user`.
pub fn clients_of_sessions(db: &mut impl Database, user: UserId) -> Result<Vec<SessionClient>, SqlError> {
    let rows: Vec<(StoredId, StoredId)> = ClientsOfSessions { user: user.into() }.all(db)?;
    rows.iter()
        .map(|(session, client)| {
            let at = Row { table: "grants", key: session };
            Ok(SessionClient { session: at.id("session_id", session)?, client: at.id("client_id", client)? })
        })
        .collect()
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones. The plus keeps SQLite from using any
    /// other.
    pub EndGrants<'a> {
        user: Id as Key,
        session: Id as Key,
        keeps: &'a str as Text,
        now: At as Moment,
        reason: &'a str as Text,
    },
    sqlite = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND +session_id = :session AND revoked_at IS NULL AND instr(' ' || scope || ' ', :keeps) = 0",
    postgres = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND session_id = :session AND revoked_at IS NULL \
          AND strpos(' ' || scope || ' ', :keeps) = 0"
}

statement! {
    ClientsOfSessions { user: Id as Key } -> (Key, Key) = "\
        SELECT DISTINCT session_id, client_id FROM grants \
        JOIN login_sessions ON login_sessions.id = session_id \
        WHERE grants.user_id = :user AND revoked_at IS NULL \
        ORDER BY session_id, client_id"
}
