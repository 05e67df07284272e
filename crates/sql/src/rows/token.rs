//! Rows of `tokens`.

use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::refresh::NewestToken;
use countersign_domain::token::{RefreshToken, Token};
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{At, Binary, Id, Key, Moment, Nullable, Row, StoredId, StoredTime, Text};
use crate::schema::tokens;
use crate::statement::row;

/// What one answer of the token endpoint issued.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = tokens)]
pub struct TokenRow {
    id: StoredId,
    grant_id: StoredId,
    parent_id: Option<StoredId>,
    scope: String,
    issued_at: StoredTime,
    access_hash: Vec<u8>,
    access_expires_at: StoredTime,
    refresh_hash: Option<Vec<u8>>,
    refresh_expires_at: Option<StoredTime>,
    bound_key: Option<Vec<u8>>,
}

impl TryFrom<TokenRow> for Token {
    type Error = SqlError;

    fn try_from(row: TokenRow) -> Result<Self, SqlError> {
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
            parent: at.optional_id("parent_id", row.parent_id.as_ref())?,
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
    pub NewToken<'a>, NewTokens {
        id: Id as Key,
        grant_id: Id as Key,
        parent_id: Option<Id> as Nullable<Key>,
        scope: String as Text,
        issued_at: At as Moment,
        access_hash: &'a [u8] as Binary,
        access_expires_at: At as Moment,
        refresh_hash: Option<&'a [u8]> as Nullable<Binary>,
        refresh_expires_at: Option<At> as Nullable<Moment>,
        forget_after: At as Moment,
        bound_key: Option<&'a [u8]> as Nullable<Binary>,
    }
}

impl<'a> From<&'a Token> for NewToken<'a> {
    fn from(token: &'a Token) -> Self {
        let refresh = token.refresh.as_ref();
        Self {
            id: token.id.into(),
            grant_id: token.grant.into(),
            parent_id: token.parent.map(Id::from),
            scope: token.scope.to_string(),
            issued_at: At(token.issued_at),
            access_hash: token.access_hash.as_bytes(),
            access_expires_at: At(token.access_expires_at),
            refresh_hash: refresh.map(|refresh| refresh.hash.as_bytes().as_slice()),
            refresh_expires_at: refresh.map(|refresh| At(refresh.expires_at)),
            forget_after: At(token.forget_after()),
            bound_key: token.key.as_ref().map(|key| key.as_bytes().as_slice()),
        }
    }
}

/// A family's newest token: id, parent and time of issue.
pub type NewestRow = (StoredId, Option<StoredId>, StoredTime);

/// The same as the domain has it.
pub fn newest_token((id, parent, issued_at): NewestRow) -> Result<NewestToken, SqlError> {
    let at = Row { table: "tokens", key: &id };
    Ok(NewestToken {
        id: at.id("id", &id)?,
        parent: at.optional_id("parent_id", parent.as_ref())?,
        issued_at: at.time("issued_at", issued_at)?,
    })
}
