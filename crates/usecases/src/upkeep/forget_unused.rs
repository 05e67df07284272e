//! The server deletes users that no client ever learned of, and clients with documents that are no longer
//! used. Strangers can create both at no cost.

use countersign_domain::forgetting::Past;
use countersign_domain::id::ClientId;
use countersign_ports::{DocumentsForgotten, ForgetDocuments, ForgetUnused, Purged, StoreError};
use time::{Duration, OffsetDateTime};

use crate::Context;
use crate::upkeep::purge_expired::BATCH;

/// Takes one step through the users that no client learned of for `unused_for`. Those who were due at `since`
/// were looked at before.
pub async fn forget_unused_users(
    context: &Context,
    since: OffsetDateTime,
    past: Past,
    unused_for: Duration,
) -> Result<Purged, StoreError> {
    let before = past.kept_for(unused_for);
    let since = since.checked_sub(unused_for).unwrap_or(since);
    context.storage.forget_unused(ForgetUnused { before, since, now: past.time(), limit: BATCH }).await
}

/// Takes one step through the clients with documents. It begins after the client where the last step ended.
pub async fn forget_unused_documents(
    context: &Context,
    past: Past,
    after: Option<ClientId>,
) -> Result<DocumentsForgotten, StoreError> {
    context.storage.forget_documents(ForgetDocuments { before: past, after, limit: BATCH }).await
}
