//! Rows of `admin_keys` and `admin_requests`.

use countersign_domain::admin_key::{AdminKey, AdminKeyName, AdminScopes};
use countersign_domain::id::AdminKeyId;
use countersign_ports::{RequestBegun, StoreError};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::field::Row;
use crate::statement::row;

row! {
    /// A key that is stored.
    AdminKeyRow<'a> {
        id: Uuid as SqlUuid,
        name: &'a str as Text,
        scopes: String as Text,
        hash: &'a [u8] as Binary,
        created_at: OffsetDateTime as Timestamptz,
        expires_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
        revoked_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
        last_used_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
    }
}

impl<'a> From<&'a AdminKey> for AdminKeyRow<'a> {
    fn from(key: &'a AdminKey) -> Self {
        Self {
            id: key.id.as_uuid(),
            name: key.name.as_str(),
            scopes: key.scopes.to_string(),
            hash: key.hash.as_bytes(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at: key.last_used_at,
        }
    }
}

/// The SQL types of [`ListedKey`].
pub(crate) type AdminKeySql = (
    SqlUuid,
    Text,
    Text,
    Binary,
    Timestamptz,
    Nullable<Timestamptz>,
    Nullable<Timestamptz>,
    Nullable<Timestamptz>,
);

/// A key that is read.
#[derive(Queryable)]
pub(crate) struct ListedKey {
    id: Uuid,
    name: String,
    scopes: String,
    hash: Vec<u8>,
    created_at: OffsetDateTime,
    expires_at: Option<OffsetDateTime>,
    revoked_at: Option<OffsetDateTime>,
    last_used_at: Option<OffsetDateTime>,
}

impl TryFrom<ListedKey> for AdminKey {
    type Error = StoreError;

    fn try_from(row: ListedKey) -> Result<Self, StoreError> {
        let at = Row { table: "admin_keys", key: row.id };
        Ok(Self {
            id: AdminKeyId::from_uuid(row.id),
            name: AdminKeyName::parse(&row.name).map_err(|_| at.impossible("name"))?,
            scopes: AdminScopes::from_stored(&row.scopes).map_err(|_| at.impossible("scopes"))?,
            hash: at.hash("hash", &row.hash)?,
            created_at: row.created_at,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
            last_used_at: row.last_used_at,
        })
    }
}

/// A request of a known key.
#[derive(Queryable)]
pub(crate) struct RequestRow {
    asked: Vec<u8>,
    begun_at: OffsetDateTime,
}

impl RequestRow {
    /// Reads a request of this key.
    pub(crate) fn read(&self, key: Uuid) -> Result<RequestBegun, StoreError> {
        let at = Row { table: "admin_requests", key };
        Ok(RequestBegun { asked: at.bytes("asked", &self.asked)?, begun_at: self.begun_at })
    }
}
