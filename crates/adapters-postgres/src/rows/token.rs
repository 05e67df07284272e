//! Rows of `tokens`.

use countersign_domain::id::{GrantId, TokenId};
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::token::{RefreshToken, Token};
use countersign_ports::StoreError;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::field::Row;
use crate::schema::tokens;
use crate::statement::row;

/// What one answer of the token endpoint issued.
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
        let at = Row { table: "tokens", key: row.id };
        let refresh = match (row.refresh_hash, row.refresh_expires_at) {
            (Some(hash), Some(expires_at)) => {
                Some(RefreshToken { hash: at.hash("refresh_hash", &hash)?, expires_at })
            }
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(at.impossible("refresh_expires_at")),
        };
        let key = row.bound_key.map(|stored| at.bytes("bound_key", &stored));
        Ok(Self {
            id: TokenId::from_uuid(row.id),
            grant: GrantId::from_uuid(row.grant_id),
            parent: row.parent_id.map(TokenId::from_uuid),
            scope: at.scope("scope", &row.scope)?,
            issued_at: row.issued_at,
            access_hash: at.hash("access_hash", &row.access_hash)?,
            access_expires_at: row.access_expires_at,
            refresh,
            key: key.transpose()?.map(KeyThumbprint::from_bytes),
        })
    }
}

row! {
    /// A token as it is stored.
    NewToken<'a>, NewTokens {
        id: Uuid as SqlUuid,
        grant_id: Uuid as SqlUuid,
        parent_id: Option<Uuid> as Nullable<SqlUuid>,
        scope: String as Text,
        issued_at: OffsetDateTime as Timestamptz,
        access_hash: &'a [u8] as Binary,
        access_expires_at: OffsetDateTime as Timestamptz,
        refresh_hash: Option<&'a [u8]> as Nullable<Binary>,
        refresh_expires_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
        forget_after: OffsetDateTime as Timestamptz,
        bound_key: Option<&'a [u8]> as Nullable<Binary>,
    }
}

impl<'a> From<&'a Token> for NewToken<'a> {
    fn from(token: &'a Token) -> Self {
        let refresh = token.refresh.as_ref();
        Self {
            id: token.id.as_uuid(),
            grant_id: token.grant.as_uuid(),
            parent_id: token.parent.map(|parent| parent.as_uuid()),
            scope: token.scope.to_string(),
            issued_at: token.issued_at,
            access_hash: token.access_hash.as_bytes(),
            access_expires_at: token.access_expires_at,
            refresh_hash: refresh.map(|refresh| refresh.hash.as_bytes().as_slice()),
            refresh_expires_at: refresh.map(|refresh| refresh.expires_at),
            forget_after: token.forget_after(),
            bound_key: token.key.as_ref().map(|key| key.as_bytes().as_slice()),
        }
    }
}
