//! A signature was good: the challenge is spent, and its grant is there.

use countersign_domain::id::{SessionId, UserId};
use countersign_ports::{CompleteLogin, LoginCompleted};
use diesel::prelude::*;
use diesel::query_builder::Query;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use time::OffsetDateTime;

use super::statement::statement;
use super::{consents, sessions, wallets};
use crate::error::SqliteError;
use crate::rows::field::{Row, micros};
use crate::rows::grant::redirect_uri;
use crate::schema::grants;

/// Guard: no grant has this id. The grant comes first, so that a spent challenge leaves nothing else behind; the
/// transaction makes it one step.
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
    Ok(LoginCompleted::CodeIssued { user })
}

/// Stores the grant of a login and gives the bytes of its user's id, or nothing if a grant has this id.
pub(crate) fn insert_grant(
    connection: &mut SqliteConnection,
    command: &CompleteLogin,
    session: Option<SessionId>,
    authenticated_at: OffsetDateTime,
) -> Result<Option<Vec<u8>>, SqliteError> {
    let (id, client, new_user) = (command.id.as_uuid(), command.client.as_uuid(), command.new_user.as_uuid());
    let scope = command.scope.to_string();
    let particulars = command.particulars.to_text();
    let session = session.map(|session| session.as_uuid());
    let insert = InsertGrant {
        id: id.as_bytes(),
        client_id: client.as_bytes(),
        wallet_family: &command.account.family,
        wallet_address: &command.account.address,
        new_user: new_user.as_bytes(),
        family: &command.account.family,
        chain: &command.account.chain,
        address: &command.account.address,
        redirect_uri: redirect_uri(command.redirect_uri.as_ref()),
        scope: &scope,
        nonce: command.nonce.as_deref(),
        code_challenge: command.code_challenge.as_ref().map(|challenge| challenge.as_bytes().as_slice()),
        code_hash: command.code_hash.as_bytes(),
        authenticated_at: micros(authenticated_at),
        code_expires_at: micros(command.code_expires_at),
        forget_after: micros(command.forget_after),
        review_at: micros(command.forget_after),
        particulars: particulars.as_deref(),
        session_id: session.as_ref().map(|session| session.as_bytes().as_slice()),
    };
    Ok(insert.get_result(connection).optional()?)
}

/// The id is a grant's: this command's, if it has the same code for the same account.
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
    /// Stores the grant with the user of the wallet, or with the new user if nobody has it; a taken id gives no row.
    struct InsertGrant<'a> {
        id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
        wallet_family: &'a str as Text,
        wallet_address: &'a str as Text,
        new_user: &'a [u8] as Binary,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        redirect_uri: &'a str as Text,
        scope: &'a str as Text,
        nonce: Option<&'a str> as Nullable<Text>,
        code_challenge: Option<&'a [u8]> as Nullable<Binary>,
        code_hash: &'a [u8] as Binary,
        authenticated_at: i64 as BigInt,
        code_expires_at: i64 as BigInt,
        forget_after: i64 as BigInt,
        review_at: i64 as BigInt,
        particulars: Option<&'a str> as Nullable<Text>,
        session_id: Option<&'a [u8]> as Nullable<Binary>,
    }
    "INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, nonce, code_challenge, \
     code_hash, authenticated_at, code_expires_at, forget_after, review_at, particulars, session_id) \
     VALUES (?, ?, coalesce((SELECT user_id FROM wallets WHERE family = ? AND address = ?), ?), \
     ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
     ON CONFLICT (id) DO NOTHING RETURNING user_id"
}

impl Query for InsertGrant<'_> {
    type SqlType = Binary;
}
