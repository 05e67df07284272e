//! Rows of `signing_keys`.

use countersign_domain::signing_key::SealedKey;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{Binary, Moment, Nullable, Row, StoredTime, Text};

/// The SQL types of [`SigningKeyRow`].
pub type SigningKeySql = (Text, Text, Binary, Moment, Moment, Nullable<Moment>);

/// One sealed key.
#[derive(Debug, Queryable)]
pub struct SigningKeyRow {
    kid: String,
    algorithm: String,
    sealed: Vec<u8>,
    created_at: StoredTime,
    active_from: StoredTime,
    withdrawn_at: Option<StoredTime>,
}

impl TryFrom<SigningKeyRow> for SealedKey {
    type Error = SqlError;

    fn try_from(row: SigningKeyRow) -> Result<Self, SqlError> {
        let at = Row { table: "signing_keys", key: &row.kid };
        Ok(Self {
            created_at: at.time("created_at", row.created_at)?,
            active_from: at.time("active_from", row.active_from)?,
            withdrawn_at: at.optional_time("withdrawn_at", row.withdrawn_at)?,
            kid: row.kid,
            algorithm: row.algorithm,
            sealed: row.sealed,
        })
    }
}
