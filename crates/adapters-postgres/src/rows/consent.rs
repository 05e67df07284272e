//! Rows of `signed_consents`.

use countersign_domain::audience::SignedAudiences;
use countersign_domain::consent::{Consent, ConsentDestination, ConsentTerms};
use countersign_domain::id::ClientId;
use countersign_domain::scope::ScopeSet;
use countersign_ports::StoreError;
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::schema::signed_consents;

/// What one user agreed to at one client.
#[derive(Queryable, Selectable)]
#[diesel(table_name = signed_consents, check_for_backend(diesel::pg::Pg))]
pub(crate) struct ConsentRow {
    user_id: Uuid,
    client_id: Uuid,
    destination: String,
    audiences: String,
    scopes: i32,
    own_scopes: String,
    granted_at: OffsetDateTime,
    last_used_at: OffsetDateTime,
}

impl TryFrom<ConsentRow> for Consent {
    type Error = StoreError;

    fn try_from(row: ConsentRow) -> Result<Self, StoreError> {
        let corrupt = |column| StoreError::Corrupt {
            table: "signed_consents",
            column,
            row: format!("{} {}", row.user_id, row.client_id),
        };
        let bits = u8::try_from(row.scopes).ok();
        let scope = bits.and_then(|bits| ScopeSet::from_bits_and_own(bits, &row.own_scopes));
        Ok(Self {
            client: ClientId::from_uuid(row.client_id),
            terms: ConsentTerms {
                destination: ConsentDestination::parse(&row.destination),
                audiences: SignedAudiences::parse(&row.audiences).ok_or_else(|| corrupt("audiences"))?,
            },
            scope: scope.ok_or_else(|| corrupt("scopes"))?,
            granted_at: row.granted_at,
            last_used_at: row.last_used_at,
        })
    }
}

/// Scopes as bits, which is how the column has them.
pub(crate) fn scope_bits(scope: &ScopeSet) -> i32 {
    scope.bits().into()
}
