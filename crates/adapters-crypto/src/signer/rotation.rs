//! Makes keys when they are due, and deletes them when nothing that they signed can be valid any more. Any
//! replica that notices may do so. The domain decides what is due.

use countersign_domain::event::Event;
use countersign_domain::forgetting::Past;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::{KeyWanted, SealedKey, key_due, standing_keys};
use countersign_ports::{AddSigningKey, Clock, Entropy, KeyAdded, KeyStore, RemoveSigningKey};
use time::{Duration, OffsetDateTime};
use tokio::task::spawn_blocking;

use super::JosekitSigner;
use super::keys::{KeyError, KeyTimes, SigningKey};
use crate::OperatorSecret;

/// Makes the events of what happens to keys. Each is `None` if no events are kept.
pub trait KeyEvents: Send + Sync {
    /// A key is made and published.
    fn announced(&self, key: &SealedKey) -> Option<Box<Event>>;

    /// A key is deleted, because nothing that it signed can be valid any more.
    fn deleted(&self, key: &SealedKey) -> Option<Box<Event>>;
}

/// Makes no events.
impl KeyEvents for () {
    fn announced(&self, _: &SealedKey) -> Option<Box<Event>> {
        None
    }

    fn deleted(&self, _: &SealedKey) -> Option<Box<Event>> {
        None
    }
}

/// Makes the signer from the stored keys. At the very first start there are none, so it makes them. Replicas
/// that do so at the same time end up with the same keys.
pub async fn load_or_create(
    store: &dyn KeyStore,
    secret: &OperatorSecret,
    clock: &dyn Clock,
    entropy: &dyn Entropy,
    events: &dyn KeyEvents,
) -> Result<JosekitSigner, KeyError> {
    let signer = JosekitSigner::new(&[])?;
    // Check the secret before making anything: keys sealed with another secret could not be opened by any
    // other replica.
    signer.reload(store, secret, clock.now()).await?;
    make_due_keys(store, secret, entropy, events, clock.now(), None).await?;
    signer.reload(store, secret, clock.now()).await?;
    let ring = signer.ring();
    let is_complete = SigningAlgorithm::ALL.into_iter().all(|algorithm| ring.active(algorithm).is_some());
    if is_complete { Ok(signer) } else { Err(KeyError::Vanished) }
}

/// Makes and stores the keys that are due now, and returns them. Without a `rotation`, only an algorithm that
/// has no key gets one.
pub async fn make_due_keys(
    store: &dyn KeyStore,
    secret: &OperatorSecret,
    entropy: &dyn Entropy,
    events: &dyn KeyEvents,
    now: OffsetDateTime,
    rotation: Option<Duration>,
) -> Result<Vec<SealedKey>, KeyError> {
    let stored = store.signing_keys().await?;
    let mut made = Vec::new();
    for algorithm in SigningAlgorithm::ALL {
        let Some(wanted) = key_due(&stored, algorithm, now, rotation) else { continue };
        made.extend(make_key(store, secret, entropy, events, now, (algorithm, wanted)).await?);
    }
    Ok(made)
}

/// Makes and stores one key; `None` if another replica was faster.
pub async fn make_key(
    store: &dyn KeyStore,
    secret: &OperatorSecret,
    entropy: &dyn Entropy,
    events: &dyn KeyEvents,
    now: OffsetDateTime,
    (algorithm, wanted): (SigningAlgorithm, KeyWanted),
) -> Result<Option<SealedKey>, KeyError> {
    let generated = spawn_blocking(move || SigningKey::generate(algorithm)).await;
    let key = generated.map_err(|panicked| KeyError::Unusable(Box::new(panicked)))??;
    let times = KeyTimes { created_at: now, active_from: wanted.active_from };
    let key = key.seal(secret, times, entropy);
    let event = events.announced(&key);
    let command = AddSigningKey { key: key.clone(), unless_after: wanted.unless_after, event };
    Ok(match store.add_signing_key(command).await? {
        KeyAdded::Stored => Some(key),
        KeyAdded::NotNeeded => None,
    })
}

/// Deletes the keys whose last tokens have expired.
pub async fn forget_old_keys(
    store: &dyn KeyStore,
    events: &dyn KeyEvents,
    past: Past,
) -> Result<(), KeyError> {
    let now = past.time();
    let stored = store.signing_keys().await?;
    for algorithm in SigningAlgorithm::ALL {
        for standing in standing_keys(&stored, algorithm, now) {
            if standing.forget_after.is_some_and(|time| time < now) {
                let event = events.deleted(standing.key);
                let command = RemoveSigningKey { kid: standing.key.kid.clone(), event };
                store.remove_signing_key(command).await?;
            }
        }
    }
    Ok(())
}
