//! Each replica writes down that it runs, for the overview of the desk, for commands that must not meet a server, and
//! so that replicas with different settings notice each other.

use countersign_domain::forgetting::Past;
use countersign_ports::{Replica, StoreError};
use time::Duration;

use crate::Context;

/// After how long a replica that has not reported is deleted.
const FORGOTTEN: Duration = Duration::days(1);

/// A replica that was not seen for longer counts as gone.
pub const SEEN_WITHIN: Duration = Duration::minutes(1);

/// Writes down that a replica runs, and forgets those that were not seen for a day.
pub async fn note_replica(context: &Context, past: Past, replica: Replica) -> Result<(), StoreError> {
    context.storage.note_replica(replica, past.kept_for(FORGOTTEN)).await
}

/// The other replicas that run now.
pub async fn other_replicas(context: &Context, own: [u8; 16]) -> Result<Vec<Replica>, StoreError> {
    let since = context.clock.now().saturating_sub(SEEN_WITHIN);
    let mut replicas = context.storage.replicas(since).await?;
    replicas.retain(|replica| replica.id != own);
    Ok(replicas)
}
