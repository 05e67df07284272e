//! Notices that a backup was restored, or a database copied, under a running server.

use std::sync::Arc;
use std::time::Duration;

use countersign_ports::{Entropy, EntropyExt};
use countersign_usecases::context::footing::{Footing, NoFooting};
use tokio::time::sleep;

use crate::upkeep::upkeeper::jittered;

/// How often to look, on average.
const EVERY: Duration = Duration::from_secs(5);

/// Looks at the database in the background, so that no request has to.
pub(crate) struct EpochWatch {
    pub(crate) footing: Arc<Footing>,
    pub(crate) entropy: Arc<dyn Entropy>,
}

impl EpochWatch {
    /// Ends when the database is another one. A database that does not answer, or that is being filled, is asked again.
    pub(crate) async fn until_another_begins(self) {
        loop {
            sleep(jittered(EVERY, self.entropy.bytes())).await;
            match self.footing.look().await {
                Ok(()) | Err(NoFooting::Unknown(_) | NoFooting::BeingFilled) => {}
                Err(NoFooting::Lost) => return,
            }
        }
    }
}
