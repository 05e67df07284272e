//! Remembered sign-ins: what several operations do with them.

use countersign_domain::wallet::WalletAccount;
use countersign_ports::NewSession;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use time::OffsetDateTime;

use super::statement::statement;
use crate::error::SqliteError;
use crate::rows::field::micros;

/// Remembers a sign-in that happens now, in the place of the one that it replaces.
pub(crate) fn open(
    connection: &mut SqliteConnection,
    session: &NewSession,
    user_id: &[u8],
    account: &WalletAccount,
    now: OffsetDateTime,
) -> Result<(), SqliteError> {
    if let Some(replaced) = session.replaces {
        let replaced = replaced.as_uuid();
        DeleteSession { id: replaced.as_bytes() }.execute(connection)?;
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
        last_used_at: now,
        expires_at: micros(session.expires_at),
    };
    insert.execute(connection)?;
    Ok(())
}

/// Ends the sessions that a wallet of a user signed for.
pub(crate) fn end_of_wallet(
    connection: &mut SqliteConnection,
    user_id: &[u8],
    account: &WalletAccount,
) -> Result<(), SqliteError> {
    let WalletAccount { family, address, .. } = account;
    DeleteSessionsOfWallet { user_id, family, address }.execute(connection)?;
    Ok(())
}

/// Ends all sessions of a user, and says how many there were.
pub(crate) fn end_of_user(connection: &mut SqliteConnection, user_id: &[u8]) -> Result<usize, SqliteError> {
    Ok(DeleteSessionsOfUser { user_id }.execute(connection)?)
}

statement! {
    struct InsertSession<'a> {
        id: &'a [u8] as Binary,
        user_id: &'a [u8] as Binary,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        secret_hash: &'a [u8] as Binary,
        browser: &'a str as Text,
        authenticated_at: i64 as BigInt,
        last_used_at: i64 as BigInt,
        expires_at: i64 as BigInt,
    }
    "INSERT INTO login_sessions (id, user_id, family, chain, address, secret_hash, browser, authenticated_at, \
     last_used_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
}

statement! {
    /// The browser is the same, its user may be another.
    struct DeleteSession<'a> {
        id: &'a [u8] as Binary,
    }
    "DELETE FROM login_sessions WHERE id = ?"
}

statement! {
    struct DeleteSessionsOfWallet<'a> {
        user_id: &'a [u8] as Binary,
        family: &'a str as Text,
        address: &'a str as Text,
    }
    "DELETE FROM login_sessions WHERE user_id = ? AND family = ? AND address = ?"
}

statement! {
    struct DeleteSessionsOfUser<'a> {
        user_id: &'a [u8] as Binary,
    }
    "DELETE FROM login_sessions WHERE user_id = ?"
}
