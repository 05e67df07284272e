//! The server deletes what can no longer be used, in small steps.

use countersign_domain::forgetting::{MARGIN, Past};
use countersign_ports::{PurgeExpired, Purged, StoreError};
use time::{Duration, OffsetDateTime};

use crate::Context;

/// How many rows of each kind are deleted at once. On SQLite, all writers wait for a step. With a thousand
/// rows, half of the steps took more than 64 ms (ten million tokens, a busy machine). With a hundred, writers
/// wait hardly longer than without upkeep.
pub const BATCH: u32 = 100;

/// How long pushed requests are kept after they expire.
const PUSHED_MARGIN: Duration = Duration::minutes(5);

/// Takes one step. Old secrets of clients go too: they are refused already, so no replica that cached such a
/// client needs to forget it first. The caller goes on while there is more.
pub async fn purge_expired(context: &Context, before: Past) -> Result<Purged, StoreError> {
    purge_expired_since(context, OffsetDateTime::UNIX_EPOCH, before).await
}

/// Takes one step among what expired since `since`. What expired earlier was taken before.
pub async fn purge_expired_since(
    context: &Context,
    since: OffsetDateTime,
    before: Past,
) -> Result<Purged, StoreError> {
    // For pushed requests, five minutes after they expire are enough.
    let pushed_since = since.checked_add(MARGIN - PUSHED_MARGIN).unwrap_or(since);
    let pushed_before = before.with_margin(PUSHED_MARGIN);
    context
        .storage
        .purge_expired(PurgeExpired { before, since, pushed_before, pushed_since, limit: BATCH })
        .await
}
