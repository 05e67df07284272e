//! Rows of `signing_keys`.

use countersign_domain::signing_key::SealedKey;
use diesel::prelude::*;

use super::field::{Row, micros};
use crate::error::SqliteError;
use crate::schema::signing_keys;

/// One sealed key.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = signing_keys)]
#[diesel(check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct SigningKeyRow {
    kid: String,
    algorithm: String,
    sealed: Vec<u8>,
    created_at: i64,
    active_from: i64,
    withdrawn_at: Option<i64>,
}

impl From<SealedKey> for SigningKeyRow {
    fn from(key: SealedKey) -> Self {
        Self {
            kid: key.kid,
            algorithm: key.algorithm,
            sealed: key.sealed,
            created_at: micros(key.created_at),
            active_from: micros(key.active_from),
            withdrawn_at: key.withdrawn_at.map(micros),
        }
    }
}

impl TryFrom<SigningKeyRow> for SealedKey {
    type Error = SqliteError;

    fn try_from(row: SigningKeyRow) -> Result<Self, SqliteError> {
        let at = Row { table: "signing_keys", key: row.kid.as_bytes() };
        Ok(Self {
            created_at: at.time("created_at", row.created_at)?,
            active_from: at.time("active_from", row.active_from)?,
            withdrawn_at: row.withdrawn_at.map(|time| at.time("withdrawn_at", time)).transpose()?,
            kid: row.kid,
            algorithm: row.algorithm,
            sealed: row.sealed,
        })
    }
}
