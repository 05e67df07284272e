//! Writes down that this replica runs and with which settings, and notices replicas with others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_http_actix::Strangers;
use countersign_ports::{EntropyExt, Replica, StoreError};
use countersign_usecases::Context;
use countersign_usecases::upkeep::note_replica::{note_replica, other_replicas};
use time::OffsetDateTime;
use tokio::time::sleep;

use crate::config::agreement::{Agreement, Difference};
use crate::failure::chain;
use crate::upkeep::clock_watch::ClockWatch;
use crate::upkeep::upkeeper::jittered;

/// How often a replica says that it runs, on average.
const EVERY: Duration = Duration::from_secs(10);

/// Says in the background that this replica runs.
#[derive(Clone)]
pub(crate) struct ReplicaKeeper {
    context: Context,
    /// Replicas are forgotten only when every clock that is known says so.
    clock: Arc<ClockWatch>,
    id: [u8; 16],
    started_at: OffsetDateTime,
    agreement: Arc<Agreement>,
    strangers: Strangers,
}

impl ReplicaKeeper {
    pub(crate) fn new(
        context: Context,
        clock: Arc<ClockWatch>,
        agreement: Agreement,
        strangers: Strangers,
    ) -> Self {
        let (id, started_at) = (context.entropy.bytes(), context.clock.now());
        Self { context, clock, id, started_at, agreement: Arc::new(agreement), strangers }
    }

    /// The id by which this replica is noted.
    pub(crate) const fn id(&self) -> [u8; 16] {
        self.id
    }

    /// Says so for as long as the server runs.
    pub(crate) async fn keep(self) {
        let mut reported = BTreeSet::new();
        loop {
            match self.round().await {
                Ok(differences) => {
                    tell(&differences, &reported);
                    reported = differences;
                }
                Err(error) => {
                    tracing::warn!(error = chain(&error), "that this replica runs could not be written yet");
                }
            }
            sleep(jittered(EVERY, self.context.entropy.bytes())).await;
        }
    }

    /// Says that this replica stops.
    pub(crate) async fn leave(&self) {
        if let Err(error) = self.context.storage.forget_replica(self.id).await {
            tracing::debug!(
                error = chain(&error),
                "that this replica stops was not written: it is forgotten by itself"
            );
        }
    }

    /// Writes, and compares with the others.
    async fn round(&self) -> Result<BTreeSet<Difference>, StoreError> {
        let replica = Replica {
            id: self.id,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.started_at,
            seen_at: self.context.clock.now(),
            settings: self.agreement.written(),
            untrusted_proxy: self.strangers.nearby(),
        };
        let past = self.clock.look(&*self.context.storage).await?;
        note_replica(&self.context, past, replica).await?;
        let others = other_replicas(&self.context, self.id).await?;
        let known = others.iter().filter_map(|other| Agreement::read(&other.settings));
        Ok(known.flat_map(|other| self.agreement.differences(&other)).collect())
    }
}

/// Logs each difference once, and logs when there are no more differences.
fn tell(differences: &BTreeSet<Difference>, reported: &BTreeSet<Difference>) {
    for difference in differences.difference(reported) {
        let [here, there] = difference.logged();
        tracing::warn!(
            setting = difference.setting,
            here,
            there,
            "another replica on this database has another setting: what a person or an application gets depends on which \
             replica answers; give all replicas the same settings"
        );
    }
    if differences.is_empty() && !reported.is_empty() {
        tracing::info!("all replicas have the same settings again");
    }
}
