//! Login sessions: what several operations do with them.

use countersign_domain::wallet::WalletAccount;
use countersign_ports::NewSession;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use time::OffsetDateTime;

use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::statement::statement;

/// Stores a session that begins now and deletes the one that it replaces.
pub(crate) fn open(
    connection: &mut SqliteConnection,
    session: &NewSession,
    user_id: &[u8],
    account: &WalletAccount,
    now: OffsetDateTime,
) -> Result<(), SqliteError> {
    if let Some(replaced) = session.replaces {
        let replaced = replaced.as_uuid();
        DeleteReplaced { id: replaced.as_bytes() }.execute(connection)?;
    }
    let (id, now) = (session.id.as_uuid(), micros(now));
    let insert = InsertSession {
        id: id.as_bytes(),
        user_id,
        family: &account.family,
        chain: &account.chain,
        address: &account.address,
        secret_hash: session.secret_hash.as_bytes(),
        browser: &session.browser,
        authenticated_at: now,
        expires_at: micros(session.expires_at),
    };
    insert.execute(connection)?;
    Ok(())
}

/// Ends the sessions of a user that began with a signature of this wallet.
pub(crate) fn end_of_wallet(
    connection: &mut SqliteConnection,
    user_id: &[u8],
    account: &WalletAccount,
) -> Result<(), SqliteError> {
    let WalletAccount { family, address, .. } = account;
    DeleteSessionsOfWallet { user_id, family, address }.execute(connection)?;
    Ok(())
}

/// Ends all sessions of a user and returns how many there were.
pub(crate) fn end_of_user(connection: &mut SqliteConnection, user_id: &[u8]) -> Result<usize, SqliteError> {
    Ok(DeleteSessions { user_id }.execute(connection)?)
}

statement! {
    InsertSession<'a> {
        id: &'a [u8] as Binary,
        user_id: &'a [u8] as Binary,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        secret_hash: &'a [u8] as Binary,
        browser: &'a str as Text,
        authenticated_at: i64 as BigInt,
        expires_at: i64 as BigInt,
    } = "\
        INSERT INTO login_sessions (id, user_id, family, chain, address, secret_hash, browser, authenticated_at, \
        last_used_at, expires_at) VALUES (:id, :user_id, :family, :chain, :address, :secret_hash, :browser, :authenticated_at, :authenticated_at, :expires_at)"
}

statement! {
    /// The browser is the same, but its user may be another.
    DeleteReplaced<'a> {
        id: &'a [u8] as Binary,
    } = "DELETE FROM login_sessions WHERE id = :id"
}

statement! {
    DeleteSessionsOfWallet<'a> {
        user_id: &'a [u8] as Binary,
        family: &'a str as Text,
        address: &'a str as Text,
    } = "DELETE FROM login_sessions WHERE user_id = :user_id AND family = :family AND address = :address"
}

statement! {
    DeleteSessions<'a> {
        user_id: &'a [u8] as Binary,
    } = "DELETE FROM login_sessions WHERE user_id = :user_id"
}
