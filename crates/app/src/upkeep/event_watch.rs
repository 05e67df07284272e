//! Looks in the background whether events wait too long to be sealed, and warns the operator. Every replica
//! looks, not only the one that seals.

use std::sync::Arc;
use std::time::Duration;

use countersign_ports::{EntropyExt, StoreError};
use countersign_usecases::Context;
use countersign_usecases::events::waiting_events::{SealWatch, Unsealed};
use tokio::time::sleep;

use crate::failure::chain;
use crate::upkeep::upkeeper::jittered;

/// How often to look, on average.
const EVERY: Duration = Duration::from_secs(10);

/// Looks at the events that wait.
pub(crate) struct EventWatch {
    pub(crate) context: Context,
    pub(crate) seals: Arc<SealWatch>,
}

impl EventWatch {
    /// Looks for as long as the server runs.
    pub(crate) async fn keep(self) {
        let mut reported = String::new();
        loop {
            sleep(jittered(EVERY, self.context.entropy.bytes())).await;
            match self.look().await {
                Ok(unsealed) => tell(&unsealed, &mut reported),
                Err(error) => {
                    tracing::debug!(error = chain(&error), "the events that wait could not be read");
                }
            }
        }
    }

    async fn look(&self) -> Result<Unsealed, StoreError> {
        self.seals.look(&*self.context.storage, &*self.context.clock).await
    }
}

/// Logs what is new, and when there is nothing any more.
fn tell(unsealed: &Unsealed, reported: &mut String) {
    let now = unsealed.to_string();
    if now == *reported {
        return;
    }
    if unsealed.is_fine() {
        tracing::info!("all events are sealed again");
    } else {
        tracing::warn!(
            trouble = now,
            "the record of events is incomplete: what is not sealed can be altered without a trace; \
             see `countersign event verify`"
        );
    }
    *reported = now;
}
