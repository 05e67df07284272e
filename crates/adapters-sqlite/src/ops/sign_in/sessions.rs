//! Login sessions: what several operations do with them.

use countersign_domain::wallet::WalletAccount;
use countersign_ports::NewSession;
use countersign_sql::columns::{At, Binary, Id, Key, Moment, Text};
use diesel::prelude::*;
use time::OffsetDateTime;

use crate::error::SqliteError;
use crate::statement::statement;

/// Stores a session that begins now and deletes the one that it replaces.
pub(crate) fn open(
    connection: &mut SqliteConnection,
    session: &NewSession,
    user_id: Id,
    account: &WalletAccount,
    now: OffsetDateTime,
) -> Result<(), SqliteError> {
    if let Some(replaced) = session.replaces {
        DeleteReplaced { id: replaced.into() }.execute(connection)?;
    }
    let insert = InsertSession {
        id: session.id.into(),
        user_id,
        family: &account.family,
        chain: &account.chain,
        address: &account.address,
        secret_hash: session.secret_hash.as_bytes(),
        browser: &session.browser,
        authenticated_at: At(now),
        expires_at: At(session.expires_at),
    };
    insert.execute(connection)?;
    Ok(())
}

statement! {
    InsertSession<'a> {
        id: Id as Key,
        user_id: Id as Key,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        secret_hash: &'a [u8] as Binary,
        browser: &'a str as Text,
        authenticated_at: At as Moment,
        expires_at: At as Moment,
    } = "\
        INSERT INTO login_sessions (id, user_id, family, chain, address, secret_hash, browser, authenticated_at, \
        last_used_at, expires_at) VALUES (:id, :user_id, :family, :chain, :address, :secret_hash, :browser, :authenticated_at, :authenticated_at, :expires_at)"
}

statement! {
    /// The browser is the same, but its user may be another.
    DeleteReplaced {
        id: Id as Key,
    } = "DELETE FROM login_sessions WHERE id = :id"
}
