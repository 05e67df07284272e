//! Rows that say what an access token means.

use countersign_domain::id::{ClientId, GrantId, TokenId};
use countersign_domain::token::AccessSnapshot;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use super::field::Row;
use super::grant::holder;
use crate::schema::{grants, tokens};

/// What a token's row says about its access token.
#[derive(Queryable, Selectable)]
#[diesel(table_name = tokens, check_for_backend(diesel::pg::Pg))]
pub(crate) struct AccessRow {
    id: Uuid,
    grant_id: Uuid,
    scope: String,
    issued_at: OffsetDateTime,
    access_hash: Vec<u8>,
    access_expires_at: OffsetDateTime,
    access_revoked_at: Option<OffsetDateTime>,
}

/// What a grant says about who holds its access tokens.
#[derive(Queryable, Selectable)]
#[diesel(table_name = grants, check_for_backend(diesel::pg::Pg))]
pub(crate) struct HolderRow {
    client_id: Uuid,
    user_id: Uuid,
    family: String,
    chain: String,
    address: String,
    revoked_at: Option<OffsetDateTime>,
}

/// Puts together what the two rows say about an access token.
pub(crate) fn access_snapshot((token, row): (AccessRow, HolderRow)) -> Result<AccessSnapshot, StoreError> {
    let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
    let at = Row { table: "tokens", key: token.id };
    Ok(AccessSnapshot {
        id: TokenId::from_uuid(token.id),
        access_hash: at.hash("access_hash", &token.access_hash)?,
        scope: at.scope("scope", &token.scope)?,
        issued_at: token.issued_at,
        expires_at: token.access_expires_at,
        token_revoked: token.access_revoked_at.is_some(),
        grant_revoked: row.revoked_at.is_some(),
        grant: GrantId::from_uuid(token.grant_id),
        client: ClientId::from_uuid(row.client_id),
        holder: holder(row.client_id, row.user_id, account),
    })
}
