//! Rows of `admin_keys` and `admin_requests`.

use countersign_domain::admin_key::{AdminKey, AdminKeyName, AdminScopes};
use countersign_ports::RequestBegun;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::field::{Row, micros};
use crate::error::SqliteError;
use crate::statement::row;

row! {
    /// A key that is stored.
    AdminKeyRow<'a> {
        id: Vec<u8> as Binary,
        name: &'a str as Text,
        scopes: String as Text,
        hash: &'a [u8] as Binary,
        created_at: i64 as BigInt,
        expires_at: Option<i64> as Nullable<BigInt>,
        revoked_at: Option<i64> as Nullable<BigInt>,
        last_used_at: Option<i64> as Nullable<BigInt>,
    }
}

impl<'a> From<&'a AdminKey> for AdminKeyRow<'a> {
    fn from(key: &'a AdminKey) -> Self {
        Self {
            id: key.id.as_uuid().as_bytes().to_vec(),
            name: key.name.as_str(),
            scopes: key.scopes.to_string(),
            hash: key.hash.as_bytes(),
            created_at: micros(key.created_at),
            expires_at: key.expires_at.map(micros),
            revoked_at: key.revoked_at.map(micros),
            last_used_at: key.last_used_at.map(micros),
        }
    }
}

/// The SQL types of [`ListedKey`].
pub(crate) type AdminKeySql =
    (Binary, Text, Text, Binary, BigInt, Nullable<BigInt>, Nullable<BigInt>, Nullable<BigInt>);

/// A key that is read.
#[derive(Queryable)]
pub(crate) struct ListedKey {
    id: Vec<u8>,
    name: String,
    scopes: String,
    hash: Vec<u8>,
    created_at: i64,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
    last_used_at: Option<i64>,
}

impl TryFrom<ListedKey> for AdminKey {
    type Error = SqliteError;

    fn try_from(row: ListedKey) -> Result<Self, SqliteError> {
        let at = Row { table: "admin_keys", key: &row.id };
        let time = |column, micros: Option<i64>| micros.map(|micros| at.time(column, micros)).transpose();
        Ok(Self {
            id: at.id("id", &row.id)?,
            name: AdminKeyName::parse(&row.name).map_err(|_| at.impossible("name"))?,
            scopes: AdminScopes::from_stored(&row.scopes).map_err(|_| at.impossible("scopes"))?,
            hash: at.hash("hash", &row.hash)?,
            created_at: at.time("created_at", row.created_at)?,
            expires_at: time("expires_at", row.expires_at)?,
            revoked_at: time("revoked_at", row.revoked_at)?,
            last_used_at: time("last_used_at", row.last_used_at)?,
        })
    }
}

/// A request of a known key.
#[derive(Queryable)]
pub(crate) struct RequestRow {
    asked: Vec<u8>,
    begun_at: i64,
}

impl RequestRow {
    /// Reads a request of this key.
    pub(crate) fn read(&self, key: &[u8]) -> Result<RequestBegun, SqliteError> {
        let at = Row { table: "admin_requests", key };
        let asked = at.bytes("asked", &self.asked)?;
        Ok(RequestBegun { asked, begun_at: at.time("begun_at", self.begun_at)? })
    }
}
