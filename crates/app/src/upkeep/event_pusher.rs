//! Pushes sealed events to their receiver, in the background. One replica does it for all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use countersign_metrics::PushFigures;
use countersign_ports::StoreError;
use countersign_usecases::Context;
use countersign_usecases::events::push_events::{EventReceiver, PushRound, Pusher};
use tokio::time::sleep;

use crate::failure::chain;
use crate::upkeep::lease::Lease;

/// How often to look for events to push.
const EVERY: Duration = Duration::from_secs(1);
/// Pushes events in the background.
pub(crate) struct EventPusher {
    context: Context,
    lease: Lease,
    pusher: Pusher,
    counts: Arc<PushCounts>,
}

impl EventPusher {
    pub(crate) fn new(
        context: Context,
        lease: Lease,
        receiver: EventReceiver,
        counts: Arc<PushCounts>,
    ) -> Self {
        Self { context, lease, pusher: Pusher::new(receiver), counts }
    }

    /// Pushes for as long as the server runs.
    pub(crate) async fn keep(mut self) {
        loop {
            match self.round().await {
                Ok(round) => {
                    self.counts.note(&round);
                    if round.more {
                        continue;
                    }
                }
                Err(error) => tracing::warn!(error = chain(&error), "events could not be pushed yet"),
            }
            sleep(EVERY).await;
        }
    }

    async fn round(&mut self) -> Result<PushRound, StoreError> {
        if !self.lease.take().await? {
            return Ok(PushRound { pending: Some(0), ..PushRound::default() });
        }
        self.pusher.push_events(&self.context).await
    }
}

/// What became of the events that this replica pushed.
#[derive(Debug, Default)]
pub(crate) struct PushCounts {
    taken: AtomicU64,
    failed: AtomicU64,
    lost: AtomicU64,
    pending: AtomicU64,
}

impl PushCounts {
    fn note(&self, round: &PushRound) {
        self.taken.fetch_add(round.taken, Ordering::Relaxed);
        self.failed.fetch_add(round.failed, Ordering::Relaxed);
        self.lost.fetch_add(round.given_up + round.lost, Ordering::Relaxed);
        if let Some(pending) = round.pending {
            self.pending.store(pending, Ordering::Relaxed);
        }
    }

    /// The figures for the metrics.
    pub(crate) fn figures(&self) -> PushFigures {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let [taken, failed, lost, pending] = [&self.taken, &self.failed, &self.lost, &self.pending].map(read);
        PushFigures { taken, failed, lost, pending }
    }
}
