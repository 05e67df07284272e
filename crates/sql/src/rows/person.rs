//! Rows of `users`, with what a list of people shows.

use countersign_ports::PersonListed;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{Key, Moment, Nullable, Row, StoredId, StoredTime, Text};
use crate::rows::block::block;

/// The SQL types of [`PersonRow`].
pub type PersonSql = (Key, Moment, Nullable<Moment>, Nullable<Moment>, Nullable<Moment>, Nullable<Text>);

/// A user, except for the wallets.
#[derive(Debug, Queryable)]
pub struct PersonRow {
    id: StoredId,
    created_at: StoredTime,
    consent_used_at: Option<StoredTime>,
    session_used_at: Option<StoredTime>,
    blocked_at: Option<StoredTime>,
    reason: Option<String>,
}

impl TryFrom<PersonRow> for PersonListed {
    type Error = SqlError;

    fn try_from(row: PersonRow) -> Result<Self, SqlError> {
        let at = Row { table: "users", key: &row.id };
        let last_sign_in_at = row.consent_used_at.max(row.session_used_at);
        Ok(Self {
            id: at.id("id", &row.id)?,
            created_at: at.time("created_at", row.created_at)?,
            last_sign_in_at: at.optional_time("last_used_at", last_sign_in_at)?,
            wallets: Vec::new(),
            block: block(at, row.blocked_at, row.reason)?,
        })
    }
}
