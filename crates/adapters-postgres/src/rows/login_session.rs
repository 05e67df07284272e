//! Rows of `login_sessions`.

use countersign_domain::id::{SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use super::field::Row;
use crate::schema::login_sessions;

/// A browser that remembers a sign-in.
#[derive(Queryable, Selectable)]
#[diesel(table_name = login_sessions, check_for_backend(diesel::pg::Pg))]
pub(crate) struct LoginSessionRow {
    id: Uuid,
    user_id: Uuid,
    family: String,
    chain: String,
    address: String,
    secret_hash: Vec<u8>,
    browser: String,
    authenticated_at: OffsetDateTime,
    last_used_at: OffsetDateTime,
    expires_at: OffsetDateTime,
}

impl TryFrom<LoginSessionRow> for LoginSession {
    type Error = StoreError;

    fn try_from(row: LoginSessionRow) -> Result<Self, StoreError> {
        let at = Row { table: "login_sessions", key: row.id };
        Ok(Self {
            id: SessionId::from_uuid(row.id),
            user: UserId::from_uuid(row.user_id),
            account: WalletAccount { family: row.family, chain: row.chain, address: row.address },
            secret_hash: at.hash("secret_hash", &row.secret_hash)?,
            browser: row.browser,
            authenticated_at: row.authenticated_at,
            last_used_at: row.last_used_at,
            expires_at: row.expires_at,
        })
    }
}
