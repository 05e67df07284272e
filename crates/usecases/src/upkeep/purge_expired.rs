//! The server forgets what nobody can use any more, in small steps.

use countersign_domain::forgetting::MARGIN;
use countersign_ports::{PurgeExpired, Purged, StoreError};
use time::{Duration, OffsetDateTime};

use crate::Context;

/// How many rows of a kind go at once. On SQLite everybody who writes waits for a step: with a thousand, most waited 64 ms
/// (ten million tokens, a busy machine), with a hundred hardly longer than without.
pub const BATCH: u32 = 100;

/// How much longer than they are good pushed requests are kept.
const PUSHED_MARGIN: Duration = Duration::minutes(5);

/// Takes one step. Whoever calls it goes on while there is more. What is past is judged by more than one clock
/// ([`judge_clock`](countersign_domain::forgetting::judge_clock)), so it comes as an argument.
pub async fn purge_expired(context: &Context, before: OffsetDateTime) -> Result<Purged, StoreError> {
    // Five minutes after their end are enough for these.
    let pushed_before = before.checked_add(MARGIN - PUSHED_MARGIN).unwrap_or(before);
    context.storage.purge_expired(PurgeExpired { before, pushed_before, limit: BATCH }).await
}
