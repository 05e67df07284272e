//! The server forgets proposals a week after their time is over. What became of them is in the events.

use countersign_domain::forgetting::Past;
use countersign_ports::StoreError;
use time::Duration;

use crate::Context;
use crate::upkeep::purge_expired::BATCH;

/// How long a proposal is shown after it has expired.
const SHOWN: Duration = Duration::days(7);

/// Takes one step through the proposals that expired long ago. Returns how many it
/// forgot; there may be more unless that is 0.
pub async fn forget_proposals(context: &Context, past: Past) -> Result<u64, StoreError> {
    context.storage.forget_proposals(past.kept_for(SHOWN), BATCH).await
}
