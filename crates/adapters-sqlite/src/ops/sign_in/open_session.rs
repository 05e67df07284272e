//! A person signed in and the browser remembers it. No client gets anything.

use countersign_ports::{OpenSession, SessionOpened};
use countersign_sql::columns::{At, Id, Key, Moment, Row, StoredId};
use countersign_sql::ops::events::record_event::record_about;
use countersign_sql::schema::{login_sessions, spent_challenges};
use diesel::dsl::exists;
use diesel::prelude::*;

use super::{sessions, wallets};
use crate::error::SqliteError;
use crate::statement::statement;

/// Guard: the challenge is not spent and did not become a grant. It is in the one insert that uses the
/// challenge up.
pub(crate) fn open_session(
    connection: &mut SqliteConnection,
    command: &OpenSession,
) -> Result<SessionOpened, SqliteError> {
    let spend = SpendUnlessGranted { id: command.id.into(), forget_after: At(command.forget_after) };
    if spend.execute(connection)? == 0 {
        return repeated_or_spent(connection, command);
    }
    let user = match wallets::owner_of(connection, &command.account)? {
        Some(owner) => owner,
        None => {
            wallets::make_user(connection, &command.account, command.new_user, command.now)?;
            command.new_user
        }
    };
    sessions::open(connection, &command.session, user.into(), &command.account, command.now)?;
    record_about(connection, command.event.as_deref(), user)?;
    Ok(SessionOpened::Opened { user })
}

/// The challenge was used before: by this command, if its session exists and has not expired.
fn repeated_or_spent(
    connection: &mut SqliteConnection,
    command: &OpenSession,
) -> Result<SessionOpened, SqliteError> {
    let (challenge, session) = (Id::from(command.id), Id::from(command.session.id));
    let user_id: Option<StoredId> = login_sessions::table
        .find(session)
        .filter(login_sessions::secret_hash.eq(command.session.secret_hash.as_bytes().as_slice()))
        .filter(login_sessions::expires_at.gt(At(command.now)))
        .filter(exists(spent_challenges::table.find(challenge)))
        .select(login_sessions::user_id)
        .get_result(connection)
        .optional()?;
    let Some(user_id) = user_id else { return Ok(SessionOpened::ChallengeSpent) };
    let at = Row { table: "login_sessions", key: &command.session.id };
    Ok(SessionOpened::Opened { user: at.id("user_id", &user_id)? })
}

statement! {
    SpendUnlessGranted {
        id: Id as Key,
        forget_after: At as Moment,
    } = "\
        INSERT INTO spent_challenges (id, forget_after) \
        SELECT :id, :forget_after WHERE NOT EXISTS (SELECT 1 FROM grants WHERE id = :id) \
        ON CONFLICT (id) DO NOTHING"
}
