//! Rows of `admin_keys` and `admin_requests`.

use countersign_domain::admin_key::{AdminKey, AdminKeyName, AdminScopes};
use countersign_ports::RequestBegun;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{At, Binary, Id, Key, Moment, Nullable, Row, StoredId, StoredTime, Text};
use crate::statement::row;

row! {
    /// A key that is stored.
    pub AdminKeyRow<'a> {
        id: Id as Key,
        name: &'a str as Text,
        scopes: String as Text,
        hash: &'a [u8] as Binary,
        created_at: At as Moment,
        expires_at: Option<At> as Nullable<Moment>,
        revoked_at: Option<At> as Nullable<Moment>,
        last_used_at: Option<At> as Nullable<Moment>,
    }
}

impl<'a> From<&'a AdminKey> for AdminKeyRow<'a> {
    fn from(key: &'a AdminKey) -> Self {
        Self {
            id: key.id.into(),
            name: key.name.as_str(),
            scopes: key.scopes.to_string(),
            hash: key.hash.as_bytes(),
            created_at: At(key.created_at),
            expires_at: key.expires_at.map(At),
            revoked_at: key.revoked_at.map(At),
            last_used_at: key.last_used_at.map(At),
        }
    }
}

/// The SQL types of [`ListedKey`].
pub type AdminKeySql =
    (Key, Text, Text, Binary, Moment, Nullable<Moment>, Nullable<Moment>, Nullable<Moment>);

/// A key that is read.
#[derive(Debug, Queryable)]
pub struct ListedKey {
    id: StoredId,
    name: String,
    scopes: String,
    hash: Vec<u8>,
    created_at: StoredTime,
    expires_at: Option<StoredTime>,
    revoked_at: Option<StoredTime>,
    last_used_at: Option<StoredTime>,
}

impl TryFrom<ListedKey> for AdminKey {
    type Error = SqlError;

    fn try_from(row: ListedKey) -> Result<Self, SqlError> {
        let at = Row { table: "admin_keys", key: &row.id };
        Ok(Self {
            id: at.id("id", &row.id)?,
            name: AdminKeyName::parse(&row.name).map_err(|_| at.impossible("name"))?,
            scopes: AdminScopes::from_stored(&row.scopes).map_err(|_| at.impossible("scopes"))?,
            hash: at.hash("hash", &row.hash)?,
            created_at: at.time("created_at", row.created_at)?,
            expires_at: at.optional_time("expires_at", row.expires_at)?,
            revoked_at: at.optional_time("revoked_at", row.revoked_at)?,
            last_used_at: at.optional_time("last_used_at", row.last_used_at)?,
        })
    }
}

/// A request of a known key.
#[derive(Debug, Queryable)]
pub struct RequestRow {
    asked: Vec<u8>,
    begun_at: StoredTime,
    waits_since: Option<StoredTime>,
    made_at: Option<StoredTime>,
}

impl RequestRow {
    /// Reads a request of this key.
    pub fn read(&self, key: Id) -> Result<RequestBegun, SqlError> {
        let at = Row { table: "admin_requests", key: &key.0 };
        let asked = at.bytes("asked", &self.asked)?;
        let begun_at = at.time("begun_at", self.begun_at)?;
        let made_at = match (self.waits_since, self.made_at) {
            (Some(_), _) => None,
            (None, Some(made_at)) => Some(at.time("made_at", made_at)?),
            // An earlier release began it.
            (None, None) => Some(begun_at),
        };
        Ok(RequestBegun { asked, begun_at, made_at })
    }
}
