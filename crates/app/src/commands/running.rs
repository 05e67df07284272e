//! The servers that run on the database of a command.

use countersign_domain::forgetting::TimeWitness;
use countersign_domain::public_url::PublicUrl;
use countersign_ports::{Clock, DirectStorage, Replica, StoreError};
use countersign_usecases::upkeep::note_replica::SEEN_WITHIN;

use crate::config::Config;
use crate::config::agreement::Agreement;
use crate::database::opened::Opened;

/// The servers that lately wrote down that they run.
pub(crate) async fn replicas(
    storage: &dyn DirectStorage,
    clock: &dyn Clock,
    witness: TimeWitness,
) -> Result<Vec<Replica>, StoreError> {
    // Replicas on a shared database follow its clock.
    let their_now = match witness {
        TimeWitness::Clock(database) => database,
        TimeWitness::Mark(_) => clock.now(),
    };
    storage.replicas(their_now.saturating_sub(SEEN_WITHIN)).await
}

/// The issuer that applications are given: the one in the settings. If they do not say it, as beside `make run` on
/// another port, it is that of the servers that run on this database.
pub(crate) async fn issuer(opened: &Opened<'_>) -> Result<PublicUrl, StoreError> {
    let Config { public_url: ours, .. } = opened.config;
    if !opened.config.is_default("public_url") {
        return Ok(ours.clone());
    }
    let management = opened.management();
    let witness = management.storage.time_witness().await?;
    let running = replicas(management.storage, management.clock, witness).await?;
    let mut theirs = running.iter().filter_map(|replica| Agreement::read(&replica.settings)?.public_url());
    Ok(match theirs.next() {
        Some(first) if theirs.all(|other| other == first) => first,
        Some(_) | None => ours.clone(),
    })
}
