//! A person signs out at a client's request.

use countersign_domain::grant::RevocationReason;
use countersign_domain::id::{ClientId, SessionId, UserId};
use countersign_ports::{EndSession, SessionClient, SignOut};
use diesel::prelude::*;
use diesel::sql_types::{Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::end_session::end_session;
use super::record_event::record_about;
use super::transaction::{Undone, all_or_nothing};
use super::wallets::lock_user;
use crate::error::OpResult;
use crate::statement::statement;

/// The session is deleted first. That waits for operations that are continuing it, and their grants are seen
/// afterwards.
pub(crate) fn sign_out(connection: &mut PgConnection, command: &SignOut) -> OpResult<bool> {
    let SignOut { user, session, keeps, now, ref event } = *command;
    all_or_nothing(connection, |connection| {
        // A user who does not exist has nothing, so the rest finds nothing.
        lock_user(connection, user)?;
        let end = EndSession { user, id: session, event: None };
        let was_there = end_session(connection, &end).map_err(Undone::Failed)?;
        let end = EndGrants {
            user: user.as_uuid(),
            session: session.as_uuid(),
            keeps: &format!(" {} ", keeps.name()),
            now,
            reason: RevocationReason::SignedOut.name(),
        };
        end.execute(connection)?;
        if was_there {
            record_about(connection, event.as_deref(), user)?;
        }
        Ok(was_there)
    })
}

pub(crate) fn clients_of_sessions(
    connection: &mut PgConnection,
    user: UserId,
) -> OpResult<Vec<SessionClient>> {
    let rows: Vec<(Uuid, Uuid)> = ClientsOfSessions { user: user.as_uuid() }.load(connection)?;
    let clients = rows.into_iter().map(|(session, client)| SessionClient {
        session: SessionId::from_uuid(session),
        client: ClientId::from_uuid(client),
    });
    Ok(clients.collect())
}

statement! {
    /// Finds the grants by the index `grants_by_user`, which has only live ones.
    EndGrants<'a> {
        user: Uuid as SqlUuid,
        session: Uuid as SqlUuid,
        keeps: &'a str as Text,
        now: OffsetDateTime as Timestamptz,
        reason: &'static str as Text,
    } = "\
        UPDATE grants SET revoked_at = :now, revocation_reason = :reason \
        WHERE user_id = :user AND session_id = :session AND revoked_at IS NULL \
          AND strpos(' ' || scope || ' ', :keeps) = 0"
}

statement! {
    ClientsOfSessions { user: Uuid as SqlUuid } -> (SqlUuid, SqlUuid) = "\
        SELECT DISTINCT session_id, client_id FROM grants \
        JOIN login_sessions ON login_sessions.id = session_id \
        WHERE grants.user_id = :user AND revoked_at IS NULL \
        ORDER BY session_id, client_id"
}
