//! The server forgets what nobody can use any more, in small steps.

use countersign_ports::{PurgeExpired, Purged, StoreError};

use crate::Context;

/// How many rows of a kind go at once. On SQLite everybody who writes waits for a step: with a thousand, most waited 64 ms
/// (ten million tokens, a busy machine), with a hundred hardly longer than without.
pub const BATCH: u32 = 100;

/// Takes one step. Whoever calls it goes on while there is more.
pub async fn purge_expired(context: &Context) -> Result<Purged, StoreError> {
    let before = context.clock.now();
    context.storage.purge_expired(PurgeExpired { before, limit: BATCH }).await
}
