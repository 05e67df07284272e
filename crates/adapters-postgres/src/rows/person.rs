//! Rows of `users`, with what a list of people shows.

use countersign_domain::id::UserId;
use countersign_ports::PersonListed;
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use super::block::block;

/// A user, except for the wallets.
#[derive(Queryable)]
pub(crate) struct PersonRow {
    id: Uuid,
    created_at: OffsetDateTime,
    consent_used_at: Option<OffsetDateTime>,
    session_used_at: Option<OffsetDateTime>,
    blocked_at: Option<OffsetDateTime>,
    reason: Option<String>,
}

impl From<PersonRow> for PersonListed {
    fn from(row: PersonRow) -> Self {
        Self {
            id: UserId::from_uuid(row.id),
            created_at: row.created_at,
            last_sign_in_at: row.consent_used_at.max(row.session_used_at),
            wallets: Vec::new(),
            block: block(row.blocked_at, row.reason),
        }
    }
}
