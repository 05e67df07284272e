//! The signing keys for an operator: stored sealed, made and opened with the operator's secret.

use std::sync::Arc;

use async_trait::async_trait;
use countersign_adapters_crypto::{KeyError, OperatorSecret, SigningKey, make_key};
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::{SealedKey, key_wanted, key_wanted_at_once, standing_keys};
use countersign_ports::{
    Entropy, KeyRing, KeyRingError, KeyRotation, KeyStore, ListedKey, RotatedKeys, StoreError,
    WithdrawSigningKey,
};
use countersign_usecases::context::cause::Cause;
use time::OffsetDateTime;

use crate::keys::key_events::EventsOfKeys;

/// The stored keys, and what it takes to make one.
pub(crate) struct SealedRing {
    pub(crate) store: Arc<dyn KeyStore>,
    /// The secret that seals them, for new ones.
    pub(crate) secret: Option<OperatorSecret>,
    pub(crate) entropy: Arc<dyn Entropy>,
    /// Makes the events of what happens to keys, for whatever cause.
    pub(crate) events: EventsOfKeys,
}

#[async_trait]
impl KeyRing for SealedRing {
    async fn list(&self, now: OffsetDateTime) -> Result<Vec<ListedKey>, StoreError> {
        list(self.store.as_ref(), now).await
    }

    async fn rotate(
        &self,
        now: OffsetDateTime,
        cause: &Cause,
        rotation: KeyRotation,
        algorithms: &[SigningAlgorithm],
    ) -> Result<RotatedKeys, KeyRingError> {
        let store = self.store.as_ref();
        let stored = store.signing_keys().await?;
        let secret = self.secret.as_ref();
        let secret = secret.ok_or_else(|| KeyRingError::Unusable("no secret to seal keys with".into()))?;
        check_secret(secret, &stored).map_err(unusable)?;
        let events = self.events.because_of(cause);
        let at_once = rotation == KeyRotation::AtOnce;
        let mut rotated = RotatedKeys::default();
        for algorithm in algorithms.iter().copied() {
            let wanted = if at_once {
                Some(key_wanted_at_once(&stored, algorithm, now))
            } else {
                key_wanted(&stored, algorithm, now)
            };
            let Some(wanted) = wanted else { continue };
            let key = make_key(store, secret, self.entropy.as_ref(), &events, now, (algorithm, wanted)).await;
            let key = key.map_err(unusable)?;
            let key = key.ok_or_else(|| KeyRingError::RotatedMeanwhile(algorithm.name()))?;
            rotated.made.push((key.kid, key.algorithm));
            if at_once {
                // Only after the new key exists: at every moment some key must be able to sign.
                for old in good_keys(&stored, algorithm) {
                    let event = events.withdrawn(old);
                    let command = WithdrawSigningKey { kid: old.kid.clone(), now, event };
                    if store.withdraw_signing_key(command).await? {
                        rotated.withdrawn.push((old.kid.clone(), old.algorithm.clone()));
                    }
                }
            }
        }
        if rotated.made.is_empty() { Err(KeyRingError::NextExist) } else { Ok(rotated) }
    }

    async fn withdraw(&self, now: OffsetDateTime, cause: &Cause, kid: &str) -> Result<String, KeyRingError> {
        withdraw(self.store.as_ref(), &self.events.because_of(cause), now, kid).await
    }
}

/// Lists the keys, which needs no secret.
pub(crate) async fn list(store: &dyn KeyStore, now: OffsetDateTime) -> Result<Vec<ListedKey>, StoreError> {
    let stored = store.signing_keys().await?;
    let keys = SigningAlgorithm::ALL.into_iter().flat_map(|algorithm| standing_keys(&stored, algorithm, now));
    let listed = keys.map(|standing| ListedKey {
        kid: standing.key.kid.clone(),
        algorithm: standing.key.algorithm.clone(),
        state: standing.state,
        created_at: standing.key.created_at,
        active_from: standing.key.active_from,
        withdrawn_at: standing.key.withdrawn_at,
        forget_after: standing.forget_after,
    });
    Ok(listed.collect())
}

/// Withdraws a key, which needs no secret.
pub(crate) async fn withdraw(
    store: &dyn KeyStore,
    events: &EventsOfKeys,
    now: OffsetDateTime,
    kid: &str,
) -> Result<String, KeyRingError> {
    let stored = store.signing_keys().await?;
    let Some(key) = stored.iter().find(|key| key.kid == kid) else {
        return Err(KeyRingError::Unknown(kid.to_owned()));
    };
    if key.withdrawn_at.is_some() {
        return Err(KeyRingError::AlreadyWithdrawn(kid.to_owned()));
    }
    if let Some(algorithm) = SigningAlgorithm::parse(&key.algorithm)
        && good_keys(&stored, algorithm).count() == 1
    {
        return Err(KeyRingError::OnlyOne { kid: kid.to_owned(), algorithm: algorithm.name() });
    }
    let event = events.withdrawn(key);
    let command = WithdrawSigningKey { kid: kid.to_owned(), now, event };
    if !store.withdraw_signing_key(command).await? {
        return Err(KeyRingError::WithdrawnMeanwhile(kid.to_owned()));
    }
    Ok(key.algorithm.clone())
}

/// The keys that are not withdrawn.
pub(crate) fn good_keys(
    stored: &[SealedKey],
    algorithm: SigningAlgorithm,
) -> impl Iterator<Item = &SealedKey> {
    stored.iter().filter(move |key| key.algorithm == algorithm.name() && key.withdrawn_at.is_none())
}

/// Refuses a secret other than the one that sealed the stored keys. No server could open a key sealed with
/// it.
fn check_secret(secret: &OperatorSecret, stored: &[SealedKey]) -> Result<(), KeyError> {
    let ours = stored.iter().filter(|key| SigningAlgorithm::parse(&key.algorithm).is_some());
    let live = ours.filter(|key| key.withdrawn_at.is_none());
    live.map(|key| SigningKey::open(secret, key)).collect::<Result<Vec<_>, _>>().map(drop)
}

fn unusable(error: KeyError) -> KeyRingError {
    KeyRingError::Unusable(Box::new(error))
}
