//! Rows of `tokens`.

use countersign_domain::id::{ClientId, GrantId, TokenId};
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::token::{AccessSnapshot, RefreshToken, Token};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::StoreError;
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::rows::Place;
use crate::rows::grant::{self, HolderRow};
use crate::schema::tokens;

/// What a token's row says.
#[derive(Queryable, Selectable)]
#[diesel(table_name = tokens, check_for_backend(diesel::pg::Pg))]
pub(crate) struct TokenRow {
    id: Uuid,
    grant_id: Uuid,
    parent_id: Option<Uuid>,
    scope: String,
    issued_at: OffsetDateTime,
    access_hash: Vec<u8>,
    access_expires_at: OffsetDateTime,
    refresh_hash: Option<Vec<u8>>,
    refresh_expires_at: Option<OffsetDateTime>,
    bound_key: Option<Vec<u8>>,
}

impl TryFrom<TokenRow> for Token {
    type Error = StoreError;

    fn try_from(row: TokenRow) -> Result<Self, StoreError> {
        let place = Place { table: "tokens", row: row.id };
        let refresh = match (row.refresh_hash, row.refresh_expires_at) {
            (Some(hash), Some(expires_at)) => {
                Some(RefreshToken { hash: place.hash("refresh_hash", &hash)?, expires_at })
            }
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(place.corrupt("refresh_expires_at")),
        };
        let key = row.bound_key.map(|stored| place.bytes("bound_key", &stored));
        Ok(Self {
            id: TokenId::from_uuid(row.id),
            grant: GrantId::from_uuid(row.grant_id),
            parent: row.parent_id.map(TokenId::from_uuid),
            scope: place.scopes("scope", &row.scope)?,
            issued_at: row.issued_at,
            access_hash: place.hash("access_hash", &row.access_hash)?,
            access_expires_at: row.access_expires_at,
            refresh,
            key: key.transpose()?.map(KeyThumbprint::from_bytes),
        })
    }
}

/// What a token's row says of its access token.
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

/// Puts the two halves of an access token together.
pub(crate) fn access_snapshot((token, row): (AccessRow, HolderRow)) -> Result<AccessSnapshot, StoreError> {
    let account = WalletAccount { family: row.family, chain: row.chain, address: row.address };
    let place = Place { table: "tokens", row: token.id };
    Ok(AccessSnapshot {
        id: TokenId::from_uuid(token.id),
        access_hash: place.hash("access_hash", &token.access_hash)?,
        scope: place.scopes("scope", &token.scope)?,
        issued_at: token.issued_at,
        expires_at: token.access_expires_at,
        token_revoked: token.access_revoked_at.is_some(),
        grant_revoked: row.revoked_at.is_some(),
        grant: GrantId::from_uuid(token.grant_id),
        client: ClientId::from_uuid(row.client_id),
        holder: grant::holder(row.client_id, row.user_id, account),
    })
}
