//! A person signed in: the challenge is spent, and its grant is stored.

use countersign_domain::id::{SessionId, UserId};
use countersign_ports::{CompleteLogin, LoginCompleted};
use countersign_sql::columns::{Id, Key, Row, StoredId};
use countersign_sql::ops::events::record_event::record_about;
use countersign_sql::rows::grant::NewGrant;
use countersign_sql::schema::grants;
use diesel::prelude::*;
use time::OffsetDateTime;

use super::{consents, sessions, wallets};
use crate::error::SqliteError;
use crate::statement::statement;

/// Guard: no grant has this id. The grant is stored first, so that a spent challenge leaves
/// nothing else behind. The transaction makes it one step.
pub(crate) fn complete_login(
    connection: &mut SqliteConnection,
    command: &CompleteLogin,
) -> Result<LoginCompleted, SqliteError> {
    let session = command.session.as_ref().map(|session| session.id);
    let Some(user) = insert_grant(connection, command, session, command.now)? else {
        return repeated_or_spent(connection, command);
    };
    if user == command.new_user {
        wallets::make_user(connection, &command.account, command.new_user, command.now)?;
    }
    let user_id = Id::from(user);
    consents::add(connection, user_id, command)?;
    if let Some(session) = &command.session {
        sessions::open(connection, session, user_id, &command.account, command.now)?;
    }
    record_about(connection, command.event.as_deref(), user)?;
    Ok(LoginCompleted::CodeIssued { user })
}

/// Stores the grant of a login and returns its user, or nothing if a grant has this id.
pub(crate) fn insert_grant(
    connection: &mut SqliteConnection,
    command: &CompleteLogin,
    session: Option<SessionId>,
    authenticated_at: OffsetDateTime,
) -> Result<Option<UserId>, SqliteError> {
    let insert = InsertGrant {
        grant: NewGrant::of_login(command, session, authenticated_at),
        new_user: command.new_user.into(),
    };
    let user: Option<StoredId> = insert.get_result(connection).optional()?;
    Ok(Row { table: "grants", key: &command.id }.optional_id("user_id", user.as_ref())?)
}

/// A grant has this id: it is this command's if it has the same code for the same account.
fn repeated_or_spent(
    connection: &mut SqliteConnection,
    command: &CompleteLogin,
) -> Result<LoginCompleted, SqliteError> {
    let account = &command.account;
    let this_grant = grants::table
        .find(Id::from(command.id))
        .filter(grants::code_hash.eq(command.code_hash.as_bytes().as_slice()))
        .filter(grants::family.eq(&account.family))
        .filter(grants::chain.eq(&account.chain))
        .filter(grants::address.eq(&account.address));
    let user: Option<StoredId> = this_grant.select(grants::user_id).get_result(connection).optional()?;
    let Some(user) = user else { return Ok(LoginCompleted::ChallengeSpent) };
    let at = Row { table: "grants", key: &command.id };
    Ok(LoginCompleted::CodeIssued { user: at.id("user_id", &user)? })
}

statement! {
    /// Stores the grant with the wallet's user, or with the new user if no user has the wallet. If the id is
    /// taken, there is no row.
    InsertGrant<'a> {
        ..grant: NewGrant<'a>,
        new_user: Id as Key,
    } -> Key = "\
        INSERT INTO grants (:grant.columns, review_at, user_id) VALUES (:grant.values, :grant.forget_after, \
        coalesce((SELECT user_id FROM wallets WHERE family = :grant.family AND address = :grant.address), :new_user)) \
        ON CONFLICT (id) DO NOTHING RETURNING user_id"
}
