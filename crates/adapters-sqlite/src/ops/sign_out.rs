//! A person signs out at a client's request.

use countersign_domain::grant::RevocationReason;
use countersign_domain::id::{ClientId, SessionId, UserId};
use countersign_ports::{EndSession, SessionClient, SignOut};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};

use super::end_session::end_session;
use crate::error::SqliteError;
use crate::rows::field::{Row, micros};
use crate::schema::{grants, login_sessions};
use crate::statement::statement;

/// Returns whether the session existed and was this user's.
pub(crate) fn sign_out(connection: &mut SqliteConnection, command: &SignOut) -> Result<bool, SqliteError> {
    let SignOut { user, session, keeps, now, event } = command;
    let (user_id, session_id) = (user.as_uuid(), session.as_uuid());
    let end = EndGrants {
        revoked_at: micros(*now),
        revocation_reason: RevocationReason::SignedOut.name(),
        user_id: user_id.as_bytes(),
        session_id: session_id.as_bytes(),
        keeps: &format!(" {} ", keeps.name()),
    };
    end.execute(connection)?;
    end_session(connection, &EndSession { user: *user, id: *session, event: event.clone() })
}

/// Live grants are found by the index `grants_by_user`.
pub(crate) fn clients_of_sessions(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Vec<SessionClient>, SqliteError> {
    let user = user.as_uuid();
    let rows: Vec<(Vec<u8>, Vec<u8>)> = grants::table
        .inner_join(login_sessions::table.on(grants::session_id.eq(login_sessions::id.nullable())))
        .filter(grants::user_id.eq(user.as_bytes().as_slice()))
        .filter(grants::revoked_at.is_null())
        .select((login_sessions::id, grants::client_id))
        .distinct()
        .order((login_sessions::id, grants::client_id))
        .load(connection)?;
    rows.into_iter()
        .map(|(session, client)| {
            let at = Row { table: "grants", key: &session };
            let session: SessionId = at.id("session_id", &session)?;
            let client: ClientId = at.id("client_id", &client)?;
            Ok(SessionClient { session, client })
        })
        .collect()
}

statement! {
    /// The plus keeps SQLite from using any index but `grants_by_user`.
    EndGrants<'a> {
        revoked_at: i64 as BigInt,
        revocation_reason: &'a str as Text,
        user_id: &'a [u8] as Binary,
        session_id: &'a [u8] as Binary,
        keeps: &'a str as Text,
    } = "\
        UPDATE grants SET revoked_at = :revoked_at, revocation_reason = :revocation_reason \
        WHERE user_id = :user_id AND +session_id = :session_id AND revoked_at IS NULL AND instr(' ' || scope || ' ', :keeps) = 0"
}
