//! Which secrets of clients were used, and when.
//!
//! Operators want to know whether an old secret is still in use before it ends. Writing that down on the
//! request's own path would make every token request a write. So it is remembered here, to the minute, and
//! written by upkeep: one command a minute at most, and one more when the server stops. A server that is
//! killed forgets its last minute.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_domain::client_secrets::{KnownSecret, WhichSecret};
use countersign_domain::id::ClientId;
use countersign_domain::secret::SecretHash;
use countersign_ports::{ClientStore, SecretUse, StoreError};
use time::{Duration, OffsetDateTime};

/// How many secrets can be seen at a glance to be noted already. Two that share a place only cost each other
/// the glance.
const PLACES: usize = 1_024;
/// How many secrets wait to be written at most, about a hundred bytes each. Further ones are noted when they
/// are used in a later minute.
const MOST: usize = 65_536;
/// How many are written at once, so that no other write waits long.
const AT_ONCE: usize = 256;

/// The secrets that were used and are not written yet. Remembers nothing about one that was not accepted, so
/// callers without a secret cannot make it grow.
pub(super) struct SecretUses {
    /// In each place, the secret that was noted there last, and its minute.
    noted: Box<[AtomicU64]>,
    waiting: Mutex<HashMap<[u8; 32], SecretUse>>,
    current: AtomicU64,
    old: AtomicU64,
}

/// How often clients authenticated with a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UseCounts {
    /// With the current one.
    pub current: u64,
    /// With the one before it.
    pub old: u64,
}

impl Default for SecretUses {
    fn default() -> Self {
        Self {
            noted: std::iter::repeat_with(AtomicU64::default).take(PLACES).collect(),
            waiting: Mutex::default(),
            current: AtomicU64::default(),
            old: AtomicU64::default(),
        }
    }
}

impl SecretUses {
    /// Notes a use. For a secret that was noted in this minute that is one look at one number.
    pub(super) fn note(&self, client: ClientId, secret: KnownSecret, now: OffsetDateTime) {
        let counter = match secret.which {
            WhichSecret::Current => &self.current,
            WhichSecret::Old => &self.old,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let (place, mark) = mark(&secret.hash, now);
        let Some(noted) = self.noted.get(place) else { return };
        if noted.load(Ordering::Relaxed) == mark {
            return;
        }
        let used = SecretUse { client, hash: secret.hash, used_at: minute(now) };
        let mut waiting = self.waiting();
        if waiting.len() >= MOST && !waiting.contains_key(used.hash.as_bytes()) {
            return;
        }
        let known = waiting.entry(*used.hash.as_bytes()).or_insert(used);
        known.used_at = known.used_at.max(used.used_at);
        noted.store(mark, Ordering::Relaxed);
    }

    /// Writes what waits. A use is forgotten here only after it was written, so a caller who gives up loses
    /// nothing.
    pub(super) async fn write(&self, storage: &dyn ClientStore) -> Result<(), StoreError> {
        loop {
            let uses: Vec<SecretUse> = self.waiting().values().take(AT_ONCE).copied().collect();
            if uses.is_empty() {
                return Ok(());
            }
            storage.note_secret_uses(uses.clone()).await?;
            let mut waiting = self.waiting();
            for written in uses {
                if waiting.get(written.hash.as_bytes()) == Some(&written) {
                    waiting.remove(written.hash.as_bytes());
                }
            }
        }
    }

    pub(super) fn counts(&self) -> UseCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        UseCounts { current: read(&self.current), old: read(&self.old) }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<[u8; 32], SecretUse>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SecretUses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretUses").finish_non_exhaustive()
    }
}

/// The place of a secret, and what is there once it is noted in this minute: 40 bits of its hash and 24 of
/// the minute. That another secret has the same of both happens once in 2^50 pairs, and then costs one minute
/// of one of them.
fn mark(hash: &SecretHash, now: OffsetDateTime) -> (usize, u64) {
    let [first, second, third, fourth, fifth, sixth, seventh, ..] = *hash.as_bytes();
    let place = usize::from(u16::from_be_bytes([first, second])) % PLACES;
    let secret = u64::from_be_bytes([third, fourth, fifth, sixth, seventh, 0, 0, 0]);
    let minutes = now.unix_timestamp().div_euclid(60).rem_euclid(1 << 24);
    (place, secret | minutes.unsigned_abs())
}

/// The beginning of this minute.
fn minute(now: OffsetDateTime) -> OffsetDateTime {
    now - Duration::nanoseconds(i64::from(now.nanosecond())) - Duration::seconds(i64::from(now.second()))
}

#[cfg(test)]
mod tests;
