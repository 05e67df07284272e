//! The server forgets users that no client was told about, and clients with documents that nobody uses.
//! Strangers can create both at no cost.

use countersign_domain::id::ClientId;
use countersign_ports::{DocumentsForgotten, ForgetDocuments, ForgetUnused, Purged, StoreError};
use time::{Duration, OffsetDateTime};

use crate::Context;
use crate::upkeep::purge_expired::BATCH;

/// Takes one step through the users that no client was told about for `unused_for`. All clocks have passed
/// `past`. Those who were due at `since` were looked at before.
pub async fn forget_unused_users(
    context: &Context,
    since: OffsetDateTime,
    past: OffsetDateTime,
    unused_for: Duration,
) -> Result<Purged, StoreError> {
    let before = past.checked_sub(unused_for).unwrap_or(past);
    let since = since.checked_sub(unused_for).unwrap_or(since);
    context.storage.forget_unused(ForgetUnused { before, since, now: past, limit: BATCH }).await
}

/// Takes one step through the clients with documents. It begins after the client where the last step ended.
pub async fn forget_unused_documents(
    context: &Context,
    past: OffsetDateTime,
    after: Option<ClientId>,
) -> Result<DocumentsForgotten, StoreError> {
    context.storage.forget_documents(ForgetDocuments { before: past, after, limit: BATCH }).await
}
