//! Each replica writes down that it runs, for the overview of the desk, for commands that must not meet a server, and
//! so that replicas with different settings notice each other.

use countersign_ports::{Replica, StoreError};
use time::Duration;

use crate::Context;

/// After how long a replica that nobody saw is forgotten.
const FORGOTTEN: Duration = Duration::days(1);

/// A replica that was not seen for longer counts as gone.
pub const SEEN_WITHIN: Duration = Duration::minutes(1);

/// Writes down that a replica runs, and forgets those that were not seen for a day.
pub async fn note_replica(context: &Context, replica: Replica) -> Result<(), StoreError> {
    let forget_before = replica.seen_at.checked_sub(FORGOTTEN).unwrap_or(replica.seen_at);
    context.storage.note_replica(replica, forget_before).await
}

/// The other replicas that run now.
pub async fn other_replicas(context: &Context, own: [u8; 16]) -> Result<Vec<Replica>, StoreError> {
    let since = context.clock.now().saturating_sub(SEEN_WITHIN);
    let mut replicas = context.storage.replicas(since).await?;
    replicas.retain(|replica| replica.id != own);
    Ok(replicas)
}
