//! Rows that say what an access token means.

use countersign_domain::token::AccessSnapshot;
use countersign_domain::wallet::WalletAccount;
use countersign_sql::SqlError;
use countersign_sql::columns::{Row, StoredId, StoredTime};
use countersign_sql::rows::grant::holder;
use countersign_sql::schema::{grants, tokens};
use diesel::prelude::*;

/// What a token's row says about its access token.
#[derive(Queryable, Selectable)]
#[diesel(table_name = tokens)]
pub(crate) struct AccessRow {
    id: StoredId,
    grant_id: StoredId,
    scope: String,
    issued_at: StoredTime,
    access_hash: Vec<u8>,
    access_expires_at: StoredTime,
    access_revoked_at: Option<StoredTime>,
}

/// What a grant says about who holds its access tokens.
#[derive(Queryable, Selectable)]
#[diesel(table_name = grants)]
pub(crate) struct HolderRow {
    client_id: StoredId,
    user_id: StoredId,
    family: String,
    chain: String,
    address: String,
    revoked_at: Option<StoredTime>,
}

/// Puts together what the two rows say about an access token.
pub(crate) fn access_snapshot((token, row): (AccessRow, HolderRow)) -> Result<AccessSnapshot, SqlError> {
    let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
    let at = Row { table: "tokens", key: &token.id };
    let client = at.id("client_id", &row.client_id)?;
    Ok(AccessSnapshot {
        id: at.id("id", &token.id)?,
        access_hash: at.hash("access_hash", &token.access_hash)?,
        scope: at.scope("scope", &token.scope)?,
        issued_at: at.time("issued_at", token.issued_at)?,
        expires_at: at.time("access_expires_at", token.access_expires_at)?,
        token_revoked: token.access_revoked_at.is_some(),
        grant_revoked: row.revoked_at.is_some(),
        grant: at.id("grant_id", &token.grant_id)?,
        client,
        holder: holder(client, at.id("user_id", &row.user_id)?, account),
    })
}
