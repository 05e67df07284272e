//! Rows that say what an access token means.

use countersign_domain::id::TokenId;
use countersign_domain::token::AccessSnapshot;
use countersign_domain::wallet::WalletAccount;
use diesel::prelude::*;

use super::grant::holder;
use crate::SqlError;
use crate::columns::{Row, StoredId, StoredTime};
use crate::schema::{grants, tokens};

/// What a token's row says about its access token.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = tokens)]
pub struct AccessRow {
    grant_id: StoredId,
    scope: String,
    issued_at: StoredTime,
    access_hash: Vec<u8>,
    access_expires_at: StoredTime,
}

/// What a grant says about who holds its access tokens.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = grants)]
pub struct HolderRow {
    client_id: StoredId,
    user_id: StoredId,
    family: String,
    chain: String,
    address: String,
}

/// When the token was revoked, and when the grant was.
pub type RevokedRow = (Option<StoredTime>, Option<StoredTime>);

/// Puts together what the rows say about an access token.
pub fn access_snapshot(
    id: TokenId,
    access: AccessRow,
    row: HolderRow,
    (token_revoked_at, grant_revoked_at): RevokedRow,
) -> Result<AccessSnapshot, SqlError> {
    let at = Row { table: "tokens", key: &id };
    let client = at.id("client_id", &row.client_id)?;
    let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
    Ok(AccessSnapshot {
        id,
        access_hash: at.hash("access_hash", &access.access_hash)?,
        scope: at.scope("scope", &access.scope)?,
        issued_at: at.time("issued_at", access.issued_at)?,
        expires_at: at.time("access_expires_at", access.access_expires_at)?,
        token_revoked: token_revoked_at.is_some(),
        grant_revoked: grant_revoked_at.is_some(),
        grant: at.id("grant_id", &access.grant_id)?,
        client,
        holder: holder(client, at.id("user_id", &row.user_id)?, account),
    })
}
