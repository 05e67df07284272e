//! Each replica writes down that it runs, for the overview of the desk.

use countersign_ports::{Replica, StoreError};
use time::Duration;

use crate::Context;

/// After how long a replica that nobody saw is forgotten.
const FORGOTTEN: Duration = Duration::days(1);

/// Writes down that a replica runs, and forgets those that were not seen for a day.
pub async fn note_replica(context: &Context, replica: Replica) -> Result<(), StoreError> {
    let forget_before = replica.seen_at.checked_sub(FORGOTTEN).unwrap_or(replica.seen_at);
    context.storage.note_replica(replica, forget_before).await
}
