//! Rows of `emails`.

use countersign_domain::email::{EmailAddress, EmailConfirmation, UserEmail};
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{Binary, Key, Moment, Nullable, Row, StoredId, StoredTime, Text};

/// The SQL types of [`EmailRow`].
pub type EmailSql = (Key, Text, Moment, Nullable<Moment>, Nullable<Binary>, Nullable<Moment>);

/// The e-mail address of one user.
#[derive(Debug, Queryable)]
pub struct EmailRow {
    user_id: StoredId,
    address: String,
    added_at: StoredTime,
    verified_at: Option<StoredTime>,
    confirmation_hash: Option<Vec<u8>>,
    confirmation_expires_at: Option<StoredTime>,
}

impl TryFrom<EmailRow> for UserEmail {
    type Error = SqlError;

    fn try_from(row: EmailRow) -> Result<Self, SqlError> {
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
            verified_at: at.optional_time("verified_at", row.verified_at)?,
            confirmation,
        })
    }
}
