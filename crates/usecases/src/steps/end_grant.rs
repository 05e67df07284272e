//! Shared step: a grant ends with all its tokens, and its event says why.

use countersign_domain::event::{Details, EventKind, EventPerson};
use countersign_domain::grant::{Grant, RevocationReason};
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_ports::{RevokeGrant, StoreError};
use time::OffsetDateTime;

use crate::Context;
use crate::context::cause::Cause;

/// A grant that ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndingGrant {
    pub(crate) id: GrantId,
    pub(crate) client: ClientId,
    /// Who gave it; `None` for a grant that a client has for itself.
    pub(crate) user: Option<UserId>,
}

impl From<&Grant> for EndingGrant {
    fn from(grant: &Grant) -> Self {
        Self { id: grant.id, client: grant.client, user: grant.holder.user() }
    }
}

/// Revokes a grant. One that was revoked before stays as it is.
pub(crate) async fn end_grant(
    context: &Context,
    cause: &Cause,
    now: OffsetDateTime,
    grant: EndingGrant,
    reason: RevocationReason,
) -> Result<(), StoreError> {
    let EndingGrant { id, client, user } = grant;
    let event = context.event(now, cause, EventKind::GrantRevoked, |event| {
        event.person = user.map(EventPerson::User);
        event.client = Some(client);
        event.details = Details::default().text("reason", reason.name()).text("grant", id);
    });
    context.storage.revoke_grant(RevokeGrant { id, reason, now, event }).await?;
    Ok(())
}
