//! The server deletes what nobody can use any more, in small steps.

use countersign_domain::forgetting::MARGIN;
use countersign_ports::{PurgeExpired, Purged, StoreError};
use time::{Duration, OffsetDateTime};

use crate::Context;

/// How many rows of each kind are deleted at once. On SQLite, all writers wait for a step. With a thousand
/// rows, half of the steps took more than 64 ms (ten million tokens, a busy machine). With a hundred, writers
/// wait hardly longer than without upkeep.
pub const BATCH: u32 = 100;

/// How long pushed requests are kept after they expire.
const PUSHED_MARGIN: Duration = Duration::minutes(5);

/// Takes one step. Old secrets of clients go too: everybody refuses them already, so nobody who remembers
/// such a client needs to forget it first. The caller goes on while there is more. The time comes as an
/// argument, because more than one clock decides what is past
/// ([`judge_clock`](countersign_domain::forgetting::judge_clock)).
pub async fn purge_expired(context: &Context, before: OffsetDateTime) -> Result<Purged, StoreError> {
    purge_expired_since(context, OffsetDateTime::UNIX_EPOCH, before).await
}

/// Takes one step among what expired since `since`. What expired earlier was taken before.
pub async fn purge_expired_since(
    context: &Context,
    since: OffsetDateTime,
    before: OffsetDateTime,
) -> Result<Purged, StoreError> {
    // For pushed requests, five minutes after they expire are enough.
    let of_pushed = |time: OffsetDateTime| time.checked_add(MARGIN - PUSHED_MARGIN).unwrap_or(time);
    let (pushed_since, pushed_before) = (of_pushed(since), of_pushed(before));
    context
        .storage
        .purge_expired(PurgeExpired { before, since, pushed_before, pushed_since, limit: BATCH })
        .await
}
