//! A person signed in and the browser remembers it. No client gets anything.

use countersign_ports::{OpenSession, SessionOpened};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};

use super::record_event::record_about;
use super::{sessions, wallets};
use crate::error::SqliteError;
use crate::rows::field::{Row, micros};
use crate::schema::{login_sessions, spent_challenges};
use crate::statement::statement;

/// Guard: the challenge is not spent and did not become a grant. It is in the one insert that uses the
/// challenge up.
pub(crate) fn open_session(
    connection: &mut SqliteConnection,
    command: &OpenSession,
) -> Result<SessionOpened, SqliteError> {
    let id = command.id.as_uuid();
    let spend = SpendUnlessGranted { id: id.as_bytes(), forget_after: micros(command.forget_after) };
    if spend.execute(connection)? == 0 {
        return repeated_or_spent(connection, command);
    }
    let (user, user_id) = match wallets::owner_of(connection, &command.account)? {
        Some(owner) => {
            let at = Row { table: "wallets", key: command.account.address.as_bytes() };
            (at.id("user_id", &owner)?, owner)
        }
        None => {
            wallets::make_user(connection, &command.account, command.new_user, command.now)?;
            (command.new_user, command.new_user.as_uuid().as_bytes().to_vec())
        }
    };
    sessions::open(connection, &command.session, &user_id, &command.account, command.now)?;
    record_about(connection, command.event.as_deref(), user)?;
    Ok(SessionOpened::Opened { user })
}

/// The challenge was used before: by this command, if its session exists and has not expired.
fn repeated_or_spent(
    connection: &mut SqliteConnection,
    command: &OpenSession,
) -> Result<SessionOpened, SqliteError> {
    let (challenge, session) = (command.id.as_uuid(), command.session.id.as_uuid());
    let user_id: Option<Vec<u8>> = login_sessions::table
        .find(session.as_bytes().as_slice())
        .filter(login_sessions::secret_hash.eq(command.session.secret_hash.as_bytes().as_slice()))
        .filter(login_sessions::expires_at.gt(micros(command.now)))
        .filter(exists(spent_challenges::table.find(challenge.as_bytes().as_slice())))
        .select(login_sessions::user_id)
        .get_result(connection)
        .optional()?;
    let Some(user_id) = user_id else { return Ok(SessionOpened::ChallengeSpent) };
    let at = Row { table: "login_sessions", key: session.as_bytes() };
    Ok(SessionOpened::Opened { user: at.id("user_id", &user_id)? })
}

statement! {
    SpendUnlessGranted<'a> {
        id: &'a [u8] as Binary,
        forget_after: i64 as BigInt,
    } = "\
        INSERT INTO spent_challenges (id, forget_after) \
        SELECT :id, :forget_after WHERE NOT EXISTS (SELECT 1 FROM grants WHERE id = :id) \
        ON CONFLICT (id) DO NOTHING"
}
