//! A person signed in: the challenge is spent, and its grant is stored.

use countersign_domain::id::{SessionId, UserId};
use countersign_ports::{CompleteLogin, LoginCompleted};
use diesel::prelude::*;
use diesel::sql_types::Binary;
use time::OffsetDateTime;

use super::record_event::record_about;
use super::{consents, sessions, wallets};
use crate::error::SqliteError;
use crate::rows::field::Row;
use crate::rows::grant::NewGrant;
use crate::schema::grants;
use crate::statement::statement;

/// Guard: no grant has this id. The grant is stored first, so that a spent challenge leaves
/// nothing else behind. The transaction makes it one step.
pub(crate) fn complete_login(
    connection: &mut SqliteConnection,
    command: &CompleteLogin,
) -> Result<LoginCompleted, SqliteError> {
    let session = command.session.as_ref().map(|session| session.id);
    let Some(user_id) = insert_grant(connection, command, session, command.now)? else {
        return repeated_or_spent(connection, command);
    };
    let id = command.id.as_uuid();
    let user: UserId = Row { table: "grants", key: id.as_bytes() }.id("user_id", &user_id)?;
    if user == command.new_user {
        wallets::make_user(connection, &command.account, command.new_user, command.now)?;
    }
    consents::add(connection, &user_id, command)?;
    if let Some(session) = &command.session {
        sessions::open(connection, session, &user_id, &command.account, command.now)?;
    }
    record_about(connection, command.event.as_deref(), user)?;
    Ok(LoginCompleted::CodeIssued { user })
}

/// Stores the grant of a login and returns the bytes of its user's id, or nothing if a grant has this id.
pub(crate) fn insert_grant(
    connection: &mut SqliteConnection,
    command: &CompleteLogin,
    session: Option<SessionId>,
    authenticated_at: OffsetDateTime,
) -> Result<Option<Vec<u8>>, SqliteError> {
    let new_user = command.new_user.as_uuid();
    let insert = InsertGrant {
        grant: NewGrant::of_login(command, session, authenticated_at),
        new_user: new_user.as_bytes(),
    };
    Ok(insert.get_result(connection).optional()?)
}

/// A grant has this id: it is this command's if it has the same code for the same account.
fn repeated_or_spent(
    connection: &mut SqliteConnection,
    command: &CompleteLogin,
) -> Result<LoginCompleted, SqliteError> {
    let id = command.id.as_uuid();
    let account = &command.account;
    let this_grant = grants::table
        .find(id.as_bytes().as_slice())
        .filter(grants::code_hash.eq(command.code_hash.as_bytes().as_slice()))
        .filter(grants::family.eq(&account.family))
        .filter(grants::chain.eq(&account.chain))
        .filter(grants::address.eq(&account.address));
    let user: Option<Vec<u8>> = this_grant.select(grants::user_id).get_result(connection).optional()?;
    let Some(user) = user else { return Ok(LoginCompleted::ChallengeSpent) };
    let at = Row { table: "grants", key: id.as_bytes() };
    Ok(LoginCompleted::CodeIssued { user: at.id("user_id", &user)? })
}

statement! {
    /// Stores the grant with the wallet's user, or with the new user if nobody has the wallet. If the id is
    /// taken, there is no row.
    InsertGrant<'a> {
        ..grant: NewGrant<'a>,
        new_user: &'a [u8] as Binary,
    } -> Binary = "\
        INSERT INTO grants (:grant.columns, review_at, user_id) VALUES (:grant.values, :grant.forget_after, \
        coalesce((SELECT user_id FROM wallets WHERE family = :grant.family AND address = :grant.address), :new_user)) \
        ON CONFLICT (id) DO NOTHING RETURNING user_id"
}
