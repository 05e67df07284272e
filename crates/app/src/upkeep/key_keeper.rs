//! Keeps the signing keys of a running server up to date: rotates them when they are old enough, and follows
//! changes by another replica or by the operator.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_adapters_crypto::{
    JosekitSigner, KeyChange, KeyError, OperatorSecret, forget_old_keys, make_due_keys,
};
use countersign_domain::signing_key::{KeyState, SealedKey};
use countersign_ports::{Clock, DirectStorage, Entropy, EntropyExt, StoreError};
use tokio::time::sleep;

use crate::failure::chain;
use crate::keys::key_events::EventsOfKeys;
use crate::upkeep::clock_watch::ClockWatch;
use crate::upkeep::upkeeper::jittered;

/// How often the keys are read, on average.
const EVERY: Duration = Duration::from_secs(5);
/// Rotates and purges keys on every Nth read.
const UPKEEP_EVERY: u32 = 12;

/// Keeps the signing keys up to date.
pub(crate) struct KeyKeeper {
    pub(crate) signer: Arc<JosekitSigner>,
    pub(crate) storage: Arc<dyn DirectStorage>,
    pub(crate) secret: OperatorSecret,
    pub(crate) clock: Arc<dyn Clock>,
    /// Keys are purged only when every clock that is known says that they are past.
    pub(crate) watch: Arc<ClockWatch>,
    pub(crate) entropy: Arc<dyn Entropy>,
    /// Makes the events of what happens to keys.
    pub(crate) events: EventsOfKeys,
    /// How long a key signs; `None` if keys are rotated by hand.
    pub(crate) rotation: Option<time::Duration>,
}

impl KeyKeeper {
    /// Runs for as long as the server does.
    pub(crate) async fn keep(self) {
        let mut fails = false;
        let mut recorded = HashSet::new();
        for reading in 0_u32.. {
            sleep(jittered(EVERY, self.entropy.bytes())).await;
            let with_upkeep = reading.is_multiple_of(UPKEEP_EVERY);
            let looked = match self.look_after(with_upkeep).await {
                Ok(changes) if with_upkeep => {
                    self.record_activations(&mut recorded).await.map(|()| changes).map_err(KeyError::from)
                }
                looked => looked,
            };
            match looked {
                Ok(changes) => {
                    changes.iter().for_each(tell);
                    fails = false;
                }
                // Logged once, not every few seconds while the database is unreachable.
                Err(error) if !fails => {
                    tracing::warn!(
                        error = chain(&error),
                        "signing keys could not be refreshed and stay as they are for now"
                    );
                    fails = true;
                }
                Err(_) => {}
            }
        }
    }

    async fn look_after(&self, with_upkeep: bool) -> Result<Vec<KeyChange>, KeyError> {
        let (store, now) = (self.storage.as_ref(), self.clock.now());
        if with_upkeep {
            let (entropy, events) = (self.entropy.as_ref(), &self.events);
            make_due_keys(store, &self.secret, entropy, events, now, self.rotation).await?;
            forget_old_keys(store, events, self.watch.look(store).await?).await?;
        }
        self.signer.reload(store, &self.secret, now).await
    }

    /// Records since when keys sign. Every replica does, also for what happened while none was running, and together
    /// they store one event for each key. `recorded` has the ids of the keys that are done.
    async fn record_activations(&self, recorded: &mut HashSet<String>) -> Result<(), StoreError> {
        let now = self.clock.now();
        let signed = |key: &SealedKey| {
            key.active_from <= now
                && key.withdrawn_at.is_none_or(|withdrawn_at| key.active_from < withdrawn_at)
        };
        for key in self.storage.signing_keys().await? {
            if !signed(&key) || recorded.contains(&key.kid) {
                continue;
            }
            if let Some(event) = self.events.activated(&key) {
                self.storage.record_event(*event).await?;
            }
            recorded.insert(key.kid);
        }
        Ok(())
    }
}

fn tell(change: &KeyChange) {
    let (kid, algorithm) = (change.kid.as_str(), change.algorithm.name());
    match change.state {
        Some(KeyState::Announced) => {
            tracing::info!(key.id = kid, algorithm, "signing key is published and will sign later")
        }
        Some(KeyState::Active) => tracing::info!(key.id = kid, algorithm, "signing key signs from now on"),
        Some(KeyState::Retired) => {
            tracing::info!(key.id = kid, algorithm, "signing key no longer signs; its tokens stay valid");
        }
        Some(KeyState::Withdrawn) => {
            tracing::warn!(
                key.id = kid,
                algorithm,
                "signing key was withdrawn: everything that it signed is invalid"
            );
        }
        None => tracing::info!(key.id = kid, algorithm, "signing key was deleted; its tokens have expired"),
    }
}

#[cfg(test)]
mod tests {
    use countersign_adapters_crypto::{OsEntropy, load_or_create};
    use countersign_conformance::fakes::ManualClock;
    use countersign_conformance::memory::MemoryStorage;
    use countersign_domain::event::{Actor, Event, EventKind};
    use countersign_ports::{EventStore, KeyStore, TokenSigner, WithdrawSigningKey};
    use countersign_usecases::context::cause::{EventPolicy, SERVER};

    use super::*;

    async fn keeper(storage: &Arc<MemoryStorage>, clock: &Arc<ManualClock>, days: i64) -> KeyKeeper {
        let secret = OperatorSecret::parse(&"c2VjcmV0".repeat(6)).unwrap();
        let events = EventsOfKeys {
            policy: EventPolicy { retention: Some(time::Duration::days(90)), whole_addresses: false },
            clock: Arc::<ManualClock>::clone(clock),
            entropy: Arc::new(OsEntropy),
            cause: SERVER.clone(),
        };
        let signer = load_or_create(storage.as_ref(), &secret, clock.as_ref(), &OsEntropy, &events);
        let signer = signer.await.unwrap();
        let own: Arc<dyn Clock> = Arc::<ManualClock>::clone(clock);
        let watch = Arc::new(ClockWatch::start(own, storage.as_ref(), false).await.unwrap());
        KeyKeeper {
            signer: Arc::new(signer),
            storage: Arc::<MemoryStorage>::clone(storage),
            secret,
            clock: Arc::<ManualClock>::clone(clock),
            watch,
            entropy: Arc::new(OsEntropy),
            events,
            rotation: Some(time::Duration::days(days)),
        }
    }

    #[tokio::test]
    async fn d_16_two_replicas_rotate_by_age_and_keep_one_set_of_keys() {
        let (storage, clock) = (Arc::new(MemoryStorage::default()), Arc::new(ManualClock::default()));
        let [here, there] = [keeper(&storage, &clock, 90).await, keeper(&storage, &clock, 90).await];
        let mut sets = Vec::new();
        for _ in 0..200 {
            for keeper in [&here, &there] {
                keeper.look_after(true).await.unwrap();
            }
            here.look_after(false).await.unwrap();
            assert_eq!(here.signer.public_keys(), there.signer.public_keys());
            sets.push(here.signer.public_keys().jwks.matches("\"kid\"").count());
            clock.advance(time::Duration::days(1));
        }
        // Announced after 89 days. The old keys stay published for a day and an hour after the new ones began
        // to sign.
        let expected = |day: usize| if matches!(day, 89..=91 | 179..=181) { 6 } else { 3 };
        assert_eq!(sets, (0..200).map(expected).collect::<Vec<_>>());
        assert_eq!(storage.signing_keys().await.unwrap().len(), 3);
    }

    /// The fresh events of a kind, and of which key each is.
    async fn told(storage: &MemoryStorage, kind: EventKind) -> Vec<(Event, String)> {
        let events =
            storage.fresh_events(1_000).await.unwrap().into_iter().filter(|event| event.kind == kind);
        let key = |event: &Event| {
            let details: serde_json::Value = serde_json::from_str(event.details.as_str()).unwrap();
            details["key"].as_str().unwrap().to_owned()
        };
        events.map(|event| (event.clone(), key(&event))).collect()
    }

    #[tokio::test]
    async fn each_key_is_announced_activated_and_retired_once_whatever_two_replicas_do() {
        let (storage, clock) = (Arc::new(MemoryStorage::default()), Arc::new(ManualClock::default()));
        let replicas = [keeper(&storage, &clock, 30).await, keeper(&storage, &clock, 30).await];
        let mut recorded = [HashSet::new(), HashSet::new()];
        let mut announced_at = Vec::new();
        for _ in 0..58 {
            for (keeper, recorded) in replicas.iter().zip(&mut recorded) {
                keeper.look_after(true).await.unwrap();
                keeper.record_activations(recorded).await.unwrap();
            }
            announced_at.push(told(&storage, EventKind::KeyAnnounced).await.len());
            clock.advance(time::Duration::days(1));
        }
        // A replica that was just started records nothing anew.
        keeper(&storage, &clock, 30).await.record_activations(&mut HashSet::new()).await.unwrap();
        assert_eq!((announced_at[0], announced_at[28], announced_at[29]), (3, 3, 6));
        let kids = |events: &[(Event, String)]| {
            let mut kids: Vec<_> = events.iter().map(|(_, kid)| kid.clone()).collect();
            kids.sort();
            kids
        };
        let announced = told(&storage, EventKind::KeyAnnounced).await;
        let activated = told(&storage, EventKind::KeyActivated).await;
        let retired = told(&storage, EventKind::KeyRetired).await;
        assert_eq!(kids(&announced), kids(&activated));
        assert_eq!((announced.len(), retired.len()), (6, 3));
        assert_eq!(kids(&retired), kids(&announced[..3]), "the first three keys are gone");
        for (event, kid) in activated.iter().chain(&retired).chain(&announced) {
            assert_eq!(event.actor, Actor::Server, "{kid}");
        }
        for key in storage.signing_keys().await.unwrap() {
            let (event, _) = activated.iter().find(|(_, kid)| *kid == key.kid).unwrap();
            assert_eq!(event.id.at_time(), key.active_from, "its time is that of the key, not of the record");
        }
    }

    #[tokio::test]
    async fn what_the_operator_withdraws_is_noticed_at_the_next_look() {
        let (storage, clock) = (Arc::new(MemoryStorage::default()), Arc::new(ManualClock::default()));
        let keeper = keeper(&storage, &clock, 90).await;
        let kid = storage.signing_keys().await.unwrap()[0].kid.clone();
        storage
            .withdraw_signing_key(WithdrawSigningKey { kid: kid.clone(), now: clock.now(), event: None })
            .await
            .unwrap();
        let changes = keeper.look_after(true).await.unwrap();
        let states: Vec<_> = changes.iter().map(|change| change.state).collect();
        assert_eq!(states, [Some(KeyState::Active), Some(KeyState::Withdrawn)], "a new one takes its place");
        assert_eq!(keeper.look_after(true).await.unwrap(), []);
    }
}
