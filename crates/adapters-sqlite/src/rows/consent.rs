//! Rows of `signed_consents`.

use countersign_domain::audience::SignedAudiences;
use countersign_domain::consent::{Consent, ConsentDestination, ConsentTerms};
use diesel::prelude::*;

use super::field::{Row, readable};
use crate::error::SqliteError;
use crate::schema::signed_consents;

/// What one user agreed to at one client.
#[derive(Queryable, Selectable)]
#[diesel(table_name = signed_consents)]
#[diesel(check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct ConsentRow {
    user_id: Vec<u8>,
    client_id: Vec<u8>,
    destination: String,
    audiences: String,
    scopes: i64,
    own_scopes: String,
    granted_at: i64,
    last_used_at: i64,
}

impl TryFrom<ConsentRow> for Consent {
    type Error = SqliteError;

    fn try_from(row: ConsentRow) -> Result<Self, SqliteError> {
        let key = format!("{} {}", readable(&row.user_id), readable(&row.client_id));
        let at = Row { table: "signed_consents", key: key.as_bytes() };
        Ok(Self {
            client: at.id("client_id", &row.client_id)?,
            terms: ConsentTerms {
                destination: ConsentDestination::parse(&row.destination),
                audiences: SignedAudiences::parse(&row.audiences)
                    .ok_or_else(|| at.impossible("audiences"))?,
            },
            scope: at.scope_bits("scopes", row.scopes, &row.own_scopes)?,
            granted_at: at.time("granted_at", row.granted_at)?,
            last_used_at: at.time("last_used_at", row.last_used_at)?,
        })
    }
}
