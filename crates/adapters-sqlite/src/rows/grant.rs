//! Grants.

use countersign_domain::grant::Grant;
use countersign_domain::particulars::Particulars;
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::wallet::WalletAccount;
use diesel::prelude::*;

use super::field::Row;
use crate::error::SqliteError;
use crate::schema::grants;

/// A grant, as far as the domain judges it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = grants)]
#[diesel(check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct GrantRow {
    id: Vec<u8>,
    client_id: Vec<u8>,
    user_id: Vec<u8>,
    family: String,
    chain: String,
    address: String,
    redirect_uri: String,
    scope: String,
    nonce: Option<String>,
    code_challenge: Option<Vec<u8>>,
    code_hash: Vec<u8>,
    authenticated_at: i64,
    code_expires_at: i64,
    redeemed_at: Option<i64>,
    revoked_at: Option<i64>,
    particulars: Option<String>,
    session_id: Option<Vec<u8>>,
}

impl TryFrom<GrantRow> for Grant {
    type Error = SqliteError;

    fn try_from(row: GrantRow) -> Result<Self, SqliteError> {
        let at = Row { table: "grants", key: &row.id };
        let code_challenge = match &row.code_challenge {
            Some(bytes) => Some(CodeChallenge::from_bytes(at.bytes("code_challenge", bytes)?)),
            None => None,
        };
        let particulars =
            Particulars::parse(row.particulars.as_deref()).ok_or_else(|| at.impossible("particulars"))?;
        Ok(Self {
            id: at.id("id", &row.id)?,
            client: at.id("client_id", &row.client_id)?,
            user: at.id("user_id", &row.user_id)?,
            account: WalletAccount { family: row.family, chain: row.chain, address: row.address },
            redirect_uri: RedirectUri::from_trusted(row.redirect_uri),
            scope: at.scope("scope", &row.scope)?,
            nonce: row.nonce,
            code_challenge,
            particulars,
            session: at.optional_id("session_id", row.session_id.as_deref())?,
            code_hash: at.hash("code_hash", &row.code_hash)?,
            authenticated_at: at.time("authenticated_at", row.authenticated_at)?,
            code_expires_at: at.time("code_expires_at", row.code_expires_at)?,
            redeemed: row.redeemed_at.is_some(),
            revoked: row.revoked_at.is_some(),
        })
    }
}
