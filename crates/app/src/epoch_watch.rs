//! Notices that a backup was restored under a running server.
//!
//! `restore` refuses a database that a server uses. A server that stood still meanwhile, or lost its way to the database, was not
//! seen: what it remembers, and the keys that it derived, are those of an epoch that is over.

use std::time::Duration;

use countersign_domain::id::EpochId;
use countersign_ports::EntropyExt;
use countersign_usecases::Context;
use tokio::time::sleep;

use crate::upkeep::jittered;

/// How often to look, on average.
const EVERY: Duration = Duration::from_secs(5);

/// Compares the epoch in the database with that of this server's start.
pub(crate) struct EpochWatch {
    pub(crate) context: Context,
    /// The epoch in which the server started.
    pub(crate) epoch: Option<EpochId>,
}

impl EpochWatch {
    /// Ends when the database is in another epoch. A database that does not answer is asked again.
    pub(crate) async fn until_another_begins(self) {
        loop {
            sleep(jittered(EVERY, self.context.entropy.bytes())).await;
            if let Ok(epoch) = self.context.storage.epoch().await
                && epoch.map(|epoch| epoch.id) != self.epoch
            {
                return;
            }
        }
    }
}
