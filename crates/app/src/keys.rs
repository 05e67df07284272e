//! Keeps the signing keys of a running server up to date: rotates them when they are old enough, and follows
//! changes by another replica or by the operator.

use std::sync::Arc;
use std::time::Duration;

use countersign_adapters_crypto::{
    JosekitSigner, KeyChange, KeyError, OperatorSecret, forget_old_keys, make_due_keys,
};
use countersign_domain::signing_key::KeyState;
use countersign_ports::{Clock, DirectStorage, Entropy, EntropyExt};
use tokio::time::sleep;

use crate::clock_watch::ClockWatch;
use crate::upkeep::jittered;

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
    /// How long a key signs; `None` if keys are rotated by hand.
    pub(crate) rotation: Option<time::Duration>,
}

impl KeyKeeper {
    /// Runs for as long as the server does.
    pub(crate) async fn keep(self) {
        let mut fails = false;
        for reading in 0_u32.. {
            sleep(jittered(EVERY, self.entropy.bytes())).await;
            match self.look_after(reading.is_multiple_of(UPKEEP_EVERY)).await {
                Ok(changes) => {
                    changes.iter().for_each(tell);
                    fails = false;
                }
                // Logged once, not every few seconds while the database is unreachable.
                Err(error) if !fails => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "signing keys could not be refreshed and stay as they are for now");
                    fails = true;
                }
                Err(_) => {}
            }
        }
    }

    async fn look_after(&self, with_upkeep: bool) -> Result<Vec<KeyChange>, KeyError> {
        let (store, now) = (self.storage.as_ref(), self.clock.now());
        if with_upkeep {
            make_due_keys(store, &self.secret, self.entropy.as_ref(), now, self.rotation).await?;
            forget_old_keys(store, self.watch.look(store).await?).await?;
        }
        self.signer.reload(store, &self.secret, now).await
    }
}

fn tell(change: &KeyChange) {
    let (kid, algorithm) = (change.kid.as_str(), change.algorithm.name());
    match change.state {
        Some(KeyState::Next) => {
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
    use countersign_ports::{KeyStore, TokenSigner, WithdrawSigningKey};

    use super::*;

    async fn keeper(storage: &Arc<MemoryStorage>, clock: &Arc<ManualClock>, days: i64) -> KeyKeeper {
        let secret = OperatorSecret::parse(&"c2VjcmV0".repeat(6)).unwrap();
        let signer = load_or_create(storage.as_ref(), &secret, clock.as_ref(), &OsEntropy).await.unwrap();
        let own: Arc<dyn Clock> = Arc::<ManualClock>::clone(clock);
        let watch = Arc::new(ClockWatch::start(own, storage.as_ref(), false).await.unwrap());
        KeyKeeper {
            signer: Arc::new(signer),
            storage: Arc::<MemoryStorage>::clone(storage),
            secret,
            clock: Arc::<ManualClock>::clone(clock),
            watch,
            entropy: Arc::new(OsEntropy),
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
