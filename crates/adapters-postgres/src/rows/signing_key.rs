//! Rows of `signing_keys`.

use countersign_domain::signing_key::SealedKey;
use diesel::prelude::*;
use time::OffsetDateTime;

use crate::schema::signing_keys;

/// One sealed key.
#[derive(Queryable, Selectable)]
#[diesel(table_name = signing_keys, check_for_backend(diesel::pg::Pg))]
pub(crate) struct SigningKeyRow {
    kid: String,
    algorithm: String,
    sealed: Vec<u8>,
    created_at: OffsetDateTime,
    active_from: OffsetDateTime,
    withdrawn_at: Option<OffsetDateTime>,
}

impl From<SigningKeyRow> for SealedKey {
    fn from(row: SigningKeyRow) -> Self {
        Self {
            kid: row.kid,
            algorithm: row.algorithm,
            sealed: row.sealed,
            created_at: row.created_at,
            active_from: row.active_from,
            withdrawn_at: row.withdrawn_at,
        }
    }
}
