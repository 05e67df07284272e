//! What was used, and when: secrets of clients, clients, and accounts of users.
//!
//! Operators want to know whether an old secret is still in use before it ends, which clients are in use, and who
//! signed in last. Writing that down on the request's own path would make every token request a write, and every
//! sign-in another one. So it is remembered here and written a few seconds later, many at once, and once more when
//! the server stops. A server that is killed forgets its last seconds.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_domain::client_secrets::{KnownSecret, WhichSecret};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::secret::SecretHash;
use countersign_ports::{ClientStore, ClientUse, PeopleStore, SecretUse, StoreError, UserSeen};
use time::OffsetDateTime;
use uuid::Uuid;

/// How many things can be seen at a glance to be noted already. Two that share a place only cost each other
/// the glance.
const PLACES: usize = 1_024;
/// How many things wait to be written at most, about a hundred bytes each. Further ones are noted when they
/// are used later.
const MOST: usize = 65_536;
/// How many are written at once, so that no other write waits long.
const AT_ONCE: usize = 256;

/// What was used and is not written yet. Remembers nothing about a secret that was not accepted or a sign-in that was
/// refused, so callers without a credential cannot make it grow.
///
/// Copies share what they remember.
#[derive(Clone)]
pub struct Uses {
    clients: Arc<dyn ClientStore>,
    people: Arc<dyn PeopleStore>,
    noted: Arc<Noted>,
}

struct Noted {
    /// In each place, what was noted there last, and when.
    places: Box<[AtomicU64]>,
    waiting: Mutex<HashMap<Used, OffsetDateTime>>,
    current: AtomicU64,
    old: AtomicU64,
}

/// What can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Used {
    Secret { client: ClientId, hash: [u8; 32] },
    Client(ClientId),
    User(UserId),
}

/// How often clients authenticated with a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UseCounts {
    /// With the current one.
    pub current: u64,
    /// With the one before it.
    pub old: u64,
}

impl Default for Noted {
    fn default() -> Self {
        Self {
            places: std::iter::repeat_with(AtomicU64::default).take(PLACES).collect(),
            waiting: Mutex::default(),
            current: AtomicU64::default(),
            old: AtomicU64::default(),
        }
    }
}

impl Uses {
    /// Writes what was used to these stores.
    pub fn new(clients: Arc<dyn ClientStore>, people: Arc<dyn PeopleStore>) -> Self {
        Self { clients, people, noted: Arc::default() }
    }

    /// Notes that a client authenticated with this secret.
    pub(crate) fn note_secret(&self, client: ClientId, secret: KnownSecret, now: OffsetDateTime) {
        let counter = match secret.which {
            WhichSecret::Current => &self.noted.current,
            WhichSecret::Old => &self.noted.old,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.note(Used::Secret { client, hash: *secret.hash.as_bytes() }, now);
    }

    /// Notes that a user signed in.
    pub(crate) fn note_sign_in(&self, user: UserId, now: OffsetDateTime) {
        self.note(Used::User(user), now);
    }

    /// Notes that people sign in to a client, or that it got tokens.
    pub(crate) fn note_client(&self, client: ClientId, now: OffsetDateTime) {
        self.note(Used::Client(client), now);
    }

    /// Notes a use. For what was noted in this minute, or for a user in this second, that is one look at one number.
    fn note(&self, used: Used, now: OffsetDateTime) {
        let (place, mark) = used.mark(now);
        let Some(noted) = self.noted.places.get(place) else { return };
        if noted.load(Ordering::Relaxed) == mark {
            return;
        }
        let used_at = used.noted_at(now);
        let mut waiting = self.waiting();
        if waiting.len() >= MOST && !waiting.contains_key(&used) {
            return;
        }
        let known = waiting.entry(used).or_insert(used_at);
        *known = used_at.max(*known);
        noted.store(mark, Ordering::Relaxed);
    }

    /// Writes down what was used since the last call. What could not be written is written next time: a use is
    /// forgotten here only after it was written. The caller sees to it that this happens every few seconds, and when
    /// the server stops.
    pub async fn write(&self) -> Result<(), StoreError> {
        loop {
            let uses: Vec<(Used, OffsetDateTime)> =
                self.waiting().iter().take(AT_ONCE).map(|(used, at)| (*used, *at)).collect();
            if uses.is_empty() {
                return Ok(());
            }
            let (mut secrets, mut clients, mut users) = (Vec::new(), Vec::new(), Vec::new());
            for &(used, used_at) in &uses {
                match used {
                    Used::Secret { client, hash } => {
                        secrets.push(SecretUse { client, hash: SecretHash::from_bytes(hash), used_at });
                    }
                    Used::Client(client) => clients.push(ClientUse { client, used_at }),
                    Used::User(user) => users.push(UserSeen { user, at: used_at }),
                }
            }
            if !secrets.is_empty() {
                self.clients.note_secret_uses(secrets).await?;
            }
            if !clients.is_empty() {
                self.clients.note_client_uses(clients).await?;
            }
            if !users.is_empty() {
                self.people.note_sign_ins(users).await?;
            }
            let mut waiting = self.waiting();
            for (used, used_at) in uses {
                if waiting.get(&used) == Some(&used_at) {
                    waiting.remove(&used);
                }
            }
        }
    }

    /// How often clients authenticated with a secret since the start.
    pub fn counts(&self) -> UseCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        UseCounts { current: read(&self.noted.current), old: read(&self.noted.old) }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<Used, OffsetDateTime>> {
        self.noted.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Uses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uses").finish_non_exhaustive()
    }
}

impl Used {
    /// How exactly its time is noted, in seconds: for users to the second, by which a list is sorted.
    const fn grain(self) -> i64 {
        match self {
            Self::Secret { .. } | Self::Client(_) => 60,
            Self::User(_) => 1,
        }
    }

    /// The beginning of this minute or second.
    fn noted_at(self, now: OffsetDateTime) -> OffsetDateTime {
        let past = now.unix_timestamp().rem_euclid(self.grain());
        now - time::Duration::seconds(past) - time::Duration::nanoseconds(i64::from(now.nanosecond()))
    }

    /// The place of a thing, and what is there once it is noted at this time: 40 bits of its hash or id and 24 of
    /// the time. That another thing has the same of both happens once in 2^50 pairs, and then costs one note of one
    /// of them.
    fn mark(self, now: OffsetDateTime) -> (usize, u64) {
        let [first, second, third, fourth, fifth, sixth, seventh] = match self {
            Self::Secret { hash: [first, second, third, fourth, fifth, sixth, seventh, ..], .. } => {
                [first, second, third, fourth, fifth, sixth, seventh]
            }
            Self::Client(client) => last_of(client.as_uuid()),
            Self::User(user) => last_of(user.as_uuid()),
        };
        let place = usize::from(u16::from_be_bytes([first, second])) % PLACES;
        let thing = u64::from_be_bytes([third, fourth, fifth, sixth, seventh, 0, 0, 0]);
        let times = now.unix_timestamp().div_euclid(self.grain()).rem_euclid(1 << 24);
        (place, thing | times.unsigned_abs())
    }
}

/// The last bytes of an id: they are random, even if it begins with a time.
fn last_of(id: Uuid) -> [u8; 7] {
    let [.., first, second, third, fourth, fifth, sixth, seventh] = id.into_bytes();
    [first, second, third, fourth, fifth, sixth, seventh]
}

#[cfg(test)]
mod tests;
