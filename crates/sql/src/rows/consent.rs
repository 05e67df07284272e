//! Rows of `signed_consents`.

use countersign_domain::audience::SignedAudiences;
use countersign_domain::consent::{Consent, ConsentDestination, ConsentTerms};
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{Key, Moment, Row, Small, StoredId, StoredSmall, StoredTime, Text};

/// The SQL types of [`ConsentRow`].
pub type ConsentSql = (Key, Key, Text, Text, Small, Text, Moment, Moment);

/// What one user agreed to at one client.
#[derive(Debug, Queryable)]
pub struct ConsentRow {
    user_id: StoredId,
    client_id: StoredId,
    destination: String,
    audiences: String,
    scopes: StoredSmall,
    own_scopes: String,
    granted_at: StoredTime,
    last_used_at: StoredTime,
}

impl TryFrom<ConsentRow> for Consent {
    type Error = SqlError;

    fn try_from(row: ConsentRow) -> Result<Self, SqlError> {
        let key = format!("{} {}", row.user_id, row.client_id);
        let at = Row { table: "signed_consents", key: &key };
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
