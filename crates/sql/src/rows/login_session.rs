//! Rows of `login_sessions`.

use countersign_domain::login_session::LoginSession;
use countersign_domain::wallet::WalletAccount;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{Binary, Key, Moment, Row, StoredId, StoredTime, Text};

/// The SQL types of [`LoginSessionRow`].
pub type LoginSessionSql = (Key, Key, Text, Text, Text, Binary, Text, Moment, Moment, Moment);

/// A browser that remembers a sign-in.
#[derive(Debug, Queryable)]
pub struct LoginSessionRow {
    id: StoredId,
    user_id: StoredId,
    family: String,
    chain: String,
    address: String,
    secret_hash: Vec<u8>,
    browser: String,
    authenticated_at: StoredTime,
    last_used_at: StoredTime,
    expires_at: StoredTime,
}

impl TryFrom<LoginSessionRow> for LoginSession {
    type Error = SqlError;

    fn try_from(row: LoginSessionRow) -> Result<Self, SqlError> {
        let at = Row { table: "login_sessions", key: &row.id };
        Ok(Self {
            id: at.id("id", &row.id)?,
            user: at.id("user_id", &row.user_id)?,
            account: WalletAccount { family: row.family, chain: row.chain, address: row.address },
            secret_hash: at.hash("secret_hash", &row.secret_hash)?,
            browser: row.browser,
            authenticated_at: at.time("authenticated_at", row.authenticated_at)?,
            last_used_at: at.time("last_used_at", row.last_used_at)?,
            expires_at: at.time("expires_at", row.expires_at)?,
        })
    }
}
