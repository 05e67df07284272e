//! Rows of `emails`.

use countersign_domain::email::{EmailAddress, EmailConfirmation, UserEmail};
use countersign_ports::StoreError;
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use super::field::Row;
use crate::schema::emails;

/// The e-mail address of one user.
#[derive(Queryable, Selectable)]
#[diesel(table_name = emails, check_for_backend(diesel::pg::Pg))]
pub(crate) struct EmailRow {
    user_id: Uuid,
    address: String,
    added_at: OffsetDateTime,
    verified_at: Option<OffsetDateTime>,
    confirmation_hash: Option<Vec<u8>>,
    confirmation_expires_at: Option<OffsetDateTime>,
}

impl TryFrom<EmailRow> for UserEmail {
    type Error = StoreError;

    fn try_from(row: EmailRow) -> Result<Self, StoreError> {
        let at = Row { table: "emails", key: row.user_id };
        let confirmation = match (row.confirmation_hash, row.confirmation_expires_at) {
            (Some(hash), Some(expires_at)) => {
                Some(EmailConfirmation { hash: at.hash("confirmation_hash", &hash)?, expires_at })
            }
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(at.impossible("confirmation_expires_at")),
        };
        Ok(Self {
            address: EmailAddress::from_trusted(row.address),
            added_at: row.added_at,
            verified_at: row.verified_at,
            confirmation,
        })
    }
}
