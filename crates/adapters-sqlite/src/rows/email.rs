//! Rows of `emails`.

use countersign_domain::email::{EmailAddress, EmailConfirmation, UserEmail};
use diesel::prelude::*;

use super::field::Row;
use crate::error::SqliteError;
use crate::schema::emails;

/// The e-mail address of one user.
#[derive(Queryable, Selectable)]
#[diesel(table_name = emails)]
#[diesel(check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct EmailRow {
    user_id: Vec<u8>,
    address: String,
    added_at: i64,
    verified_at: Option<i64>,
    confirmation_hash: Option<Vec<u8>>,
    confirmation_expires_at: Option<i64>,
}

impl TryFrom<EmailRow> for UserEmail {
    type Error = SqliteError;

    fn try_from(row: EmailRow) -> Result<Self, SqliteError> {
        let at = Row { table: "emails", key: &row.user_id };
        let confirmation = match (&row.confirmation_hash, row.confirmation_expires_at) {
            (Some(hash), Some(expires_at)) => Some(EmailConfirmation {
                hash: at.hash("confirmation_hash", hash)?,
                expires_at: at.time("confirmation_expires_at", expires_at)?,
            }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(at.impossible("confirmation_expires_at")),
        };
        Ok(Self {
            address: EmailAddress::from_trusted(row.address),
            added_at: at.time("added_at", row.added_at)?,
            verified_at: row.verified_at.map(|at_micros| at.time("verified_at", at_micros)).transpose()?,
            confirmation,
        })
    }
}
