//! Writes down that this replica runs, for the operators' overview. Only a server with a desk does.

use std::time::Duration;

use countersign_ports::{EntropyExt, Replica};
use countersign_usecases::Context;
use countersign_usecases::upkeep::note_replica::note_replica;
use time::OffsetDateTime;
use tokio::time::sleep;

use crate::upkeep::jittered;

/// How often a replica says that it runs, on average.
const EVERY: Duration = Duration::from_secs(10);

/// Says in the background that this replica runs.
pub(crate) struct ReplicaKeeper {
    context: Context,
    id: [u8; 16],
    started_at: OffsetDateTime,
}

impl ReplicaKeeper {
    pub(crate) fn new(context: Context) -> Self {
        let (id, started_at) = (context.entropy.bytes(), context.clock.now());
        Self { context, id, started_at }
    }

    /// Says so for as long as the server runs.
    pub(crate) async fn keep(self) {
        loop {
            let replica = Replica {
                id: self.id,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                started_at: self.started_at,
                seen_at: self.context.clock.now(),
            };
            if let Err(error) = note_replica(&self.context, replica).await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "that this replica runs could not be written yet");
            }
            sleep(jittered(EVERY, self.context.entropy.bytes())).await;
        }
    }
}
