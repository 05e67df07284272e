//! Rows of `login_sessions`.

use countersign_domain::login_session::LoginSession;
use countersign_domain::wallet::WalletAccount;
use diesel::prelude::*;

use super::field::Row;
use crate::error::SqliteError;
use crate::schema::login_sessions;

/// A browser that remembers a sign-in.
#[derive(Queryable, Selectable)]
#[diesel(table_name = login_sessions)]
#[diesel(check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct LoginSessionRow {
    id: Vec<u8>,
    user_id: Vec<u8>,
    family: String,
    chain: String,
    address: String,
    secret_hash: Vec<u8>,
    browser: String,
    authenticated_at: i64,
    last_used_at: i64,
    expires_at: i64,
}

impl TryFrom<LoginSessionRow> for LoginSession {
    type Error = SqliteError;

    fn try_from(row: LoginSessionRow) -> Result<Self, SqliteError> {
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
