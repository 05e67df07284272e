//! Rows of `tokens`.

use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::refresh::NewestToken;
use countersign_domain::token::{RefreshToken, Token};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::access_token::place;
use super::field::{Row, micros};
use crate::error::SqliteError;
use crate::schema::tokens;
use crate::statement::row;

/// What one answer of the token endpoint issued.
#[derive(Queryable, Selectable)]
#[diesel(table_name = tokens)]
#[diesel(check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct TokenRow {
    id: Vec<u8>,
    grant_id: Vec<u8>,
    parent_id: Option<Vec<u8>>,
    scope: String,
    issued_at: i64,
    access_hash: Vec<u8>,
    access_expires_at: i64,
    refresh_hash: Option<Vec<u8>>,
    refresh_expires_at: Option<i64>,
    bound_key: Option<Vec<u8>>,
}

impl TryFrom<TokenRow> for Token {
    type Error = SqliteError;

    fn try_from(row: TokenRow) -> Result<Self, SqliteError> {
        let at = Row { table: "tokens", key: &row.id };
        let refresh = match (&row.refresh_hash, row.refresh_expires_at) {
            (Some(hash), Some(expires_at)) => Some(RefreshToken {
                hash: at.hash("refresh_hash", hash)?,
                expires_at: at.time("refresh_expires_at", expires_at)?,
            }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(at.impossible("refresh_expires_at")),
        };
        let key = match &row.bound_key {
            Some(bytes) => Some(KeyThumbprint::from_bytes(at.bytes("bound_key", bytes)?)),
            None => None,
        };
        Ok(Self {
            id: at.id("id", &row.id)?,
            grant: at.id("grant_id", &row.grant_id)?,
            parent: at.optional_id("parent_id", row.parent_id.as_deref())?,
            scope: at.scope("scope", &row.scope)?,
            issued_at: at.time("issued_at", row.issued_at)?,
            access_hash: at.hash("access_hash", &row.access_hash)?,
            access_expires_at: at.time("access_expires_at", row.access_expires_at)?,
            refresh,
            key,
        })
    }
}

row! {
    /// A token as it is stored.
    NewToken<'a> {
        id: [u8; 16] as Binary,
        grant_id: [u8; 16] as Binary,
        parent_id: Option<[u8; 16]> as Nullable<Binary>,
        scope: String as Text,
        issued_at: i64 as BigInt,
        access_hash: &'a [u8] as Binary,
        access_expires_at: i64 as BigInt,
        refresh_hash: Option<&'a [u8]> as Nullable<Binary>,
        refresh_expires_at: Option<i64> as Nullable<BigInt>,
        forget_after: i64 as BigInt,
        bound_key: Option<&'a [u8]> as Nullable<Binary>,
        place: i64 as BigInt,
    }
}

impl<'a> From<&'a Token> for NewToken<'a> {
    fn from(token: &'a Token) -> Self {
        let id = token.id.as_uuid();
        let refresh = token.refresh.as_ref();
        Self {
            id: id.into_bytes(),
            grant_id: token.grant.as_uuid().into_bytes(),
            parent_id: token.parent.map(|id| id.as_uuid().into_bytes()),
            scope: token.scope.to_string(),
            issued_at: micros(token.issued_at),
            access_hash: token.access_hash.as_bytes(),
            access_expires_at: micros(token.access_expires_at),
            refresh_hash: refresh.map(|refresh| refresh.hash.as_bytes().as_slice()),
            refresh_expires_at: refresh.map(|refresh| micros(refresh.expires_at)),
            forget_after: micros(token.forget_after()),
            bound_key: token.key.as_ref().map(|key| key.as_bytes().as_slice()),
            place: place(id),
        }
    }
}

/// A family's newest token: id, parent and time of issue.
pub(crate) type NewestRow = (Vec<u8>, Option<Vec<u8>>, i64);

/// The same as the domain has it.
pub(crate) fn newest_token((id, parent, issued_at): NewestRow) -> Result<NewestToken, SqliteError> {
    let at = Row { table: "tokens", key: &id };
    Ok(NewestToken {
        id: at.id("id", &id)?,
        parent: at.optional_id("parent_id", parent.as_deref())?,
        issued_at: at.time("issued_at", issued_at)?,
    })
}
