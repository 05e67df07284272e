//! Rows of `users`, with what a list of people shows.

use countersign_ports::PersonListed;
use diesel::prelude::*;

use super::block::block;
use super::field::Row;
use crate::error::SqliteError;

/// A user, except for the wallets.
#[derive(Queryable)]
pub(crate) struct PersonRow {
    id: Vec<u8>,
    created_at: i64,
    consent_used_at: Option<i64>,
    session_used_at: Option<i64>,
    blocked_at: Option<i64>,
    reason: Option<String>,
}

impl TryFrom<PersonRow> for PersonListed {
    type Error = SqliteError;

    fn try_from(row: PersonRow) -> Result<Self, SqliteError> {
        let at = Row { table: "users", key: &row.id };
        let last_sign_in_at = row.consent_used_at.max(row.session_used_at);
        Ok(Self {
            id: at.id("id", &row.id)?,
            created_at: at.time("created_at", row.created_at)?,
            last_sign_in_at: last_sign_in_at.map(|micros| at.time("last_used_at", micros)).transpose()?,
            wallets: Vec::new(),
            block: block(at, row.blocked_at, row.reason)?,
        })
    }
}
