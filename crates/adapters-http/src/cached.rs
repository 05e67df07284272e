//! Keeps fetched documents for a while.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use countersign_ports::{FetchError, Fetched, Fetcher, Post, Posted};
use tokio::sync::Mutex as Turn;
use tokio::time::Instant;

/// How many URLs are kept at a time. With answers of up to 64 KiB this also limits the memory.
const MAX_URLS: usize = 256;
/// A document is kept for at least this long, whatever its server says, so that no one can make us fetch it
/// all the time.
const MIN_AGE: Duration = Duration::from_secs(60);
/// A document is kept for at most this long, because keys can be revoked.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);
/// How long a document is kept if its server does not say.
const USUAL_AGE: Duration = Duration::from_secs(5 * 60);
/// How long a failure is remembered.
const FAILURE_AGE: Duration = Duration::from_secs(5);
/// After a fresh fetch because the document lacked something, the next such fetch must wait this long.
const ANEW_AFTER: Duration = Duration::from_secs(10);

/// A fetcher that keeps what it got. If many callers want the same document at once, one fetches it and the
/// others wait.
pub struct CachedDocuments {
    fetcher: Arc<dyn Fetcher>,
    documents: Slots,
    /// Kept apart, so that someone who names many documents cannot push out the keys of clients.
    keys: Slots,
}

type Slots = Mutex<HashMap<String, Arc<Slot>>>;

/// What to fetch.
#[derive(Clone, Copy, Debug)]
enum What {
    Document,
    Keys,
}

/// What is known about one URL. Only the caller that holds the lock fetches.
#[derive(Default)]
struct Slot {
    known: Turn<Option<CachedAnswer>>,
}

#[derive(Clone)]
struct CachedAnswer {
    answer: Result<Fetched, FetchError>,
    /// A failed fetch does not replace a document that is still fresh.
    good_until: Instant,
    /// When it was last fetched although it was known.
    asked_anew_at: Option<Instant>,
}

impl CachedAnswer {
    /// Can this answer be used without fetching?
    fn will_do(&self, anew: bool, now: Instant) -> bool {
        let was_asked_just_now = self.asked_anew_at.is_some_and(|asked_at| now < asked_at + ANEW_AFTER);
        now < self.good_until && (!anew || was_asked_just_now || self.answer.is_err())
    }
}

impl CachedDocuments {
    /// Keeps what this fetcher gets.
    pub fn new(fetcher: Arc<dyn Fetcher>) -> Self {
        Self { fetcher, documents: Mutex::default(), keys: Mutex::default() }
    }

    async fn look_up(&self, what: What, url: &str, anew: bool) -> Result<Fetched, FetchError> {
        let slot = self.slot(what, url);
        let mut known = slot.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| known.will_do(anew, Instant::now())) {
            return known.answer.clone();
        }
        let answer = match what {
            What::Document => self.fetcher.get(url).await,
            What::Keys => self.fetcher.get_keys(url).await,
        };
        let now = Instant::now();
        let age = match &answer {
            Ok(fetched) => fetched.max_age.unwrap_or(USUAL_AGE).clamp(MIN_AGE, MAX_AGE),
            Err(_) => FAILURE_AGE,
        };
        let asked_anew_at = anew.then_some(now);
        match known.as_mut().filter(|known| answer.is_err() && known.answer.is_ok() && now < known.good_until)
        {
            // The fresh fetch failed, so the earlier answer stays in use.
            Some(known) => known.asked_anew_at = asked_anew_at,
            None => *known = Some(CachedAnswer { answer, good_until: now + age, asked_anew_at }),
        }
        known.as_ref().map_or(Err(FetchError::Unreachable), |known| known.answer.clone())
    }

    fn slot(&self, what: What, url: &str) -> Arc<Slot> {
        let mut slots = self.slots(what);
        if let Some(slot) = slots.get(url) {
            return Arc::clone(slot);
        }
        if slots.len() >= MAX_URLS {
            make_room(&mut slots);
        }
        Arc::clone(slots.entry(url.to_owned()).or_default())
    }

    fn slots(&self, what: What) -> MutexGuard<'_, HashMap<String, Arc<Slot>>> {
        let slots = match what {
            What::Document => &self.documents,
            What::Keys => &self.keys,
        };
        slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes entries that are no longer fresh or, if there are none, the one that expires first. An entry that
/// is being fetched has no known expiry, so it is removed first. Its callers still get their answer.
fn make_room(slots: &mut HashMap<String, Arc<Slot>>) {
    let now = Instant::now();
    let good_until =
        |slot: &Arc<Slot>| slot.known.try_lock().ok().and_then(|known| Some(known.as_ref()?.good_until));
    slots.retain(|_, slot| good_until(slot).is_none_or(|until| until > now));
    if slots.len() >= MAX_URLS {
        let first = slots.iter().min_by_key(|(_, slot)| good_until(slot)).map(|(url, _)| url.clone());
        first.map(|url| slots.remove(&url));
    }
}

#[async_trait]
impl Fetcher for CachedDocuments {
    async fn get(&self, url: &str) -> Result<Fetched, FetchError> {
        self.look_up(What::Document, url, false).await
    }

    async fn get_anew(&self, url: &str) -> Result<Fetched, FetchError> {
        self.look_up(What::Document, url, true).await
    }

    async fn get_keys(&self, url: &str) -> Result<Fetched, FetchError> {
        self.look_up(What::Keys, url, false).await
    }

    async fn get_keys_anew(&self, url: &str) -> Result<Fetched, FetchError> {
        self.look_up(What::Keys, url, true).await
    }

    async fn post_form(&self, url: &str, form: &[(&str, &str)]) -> Result<u16, FetchError> {
        self.fetcher.post_form(url, form).await
    }

    async fn post(&self, post: Post<'_>) -> Result<Posted, FetchError> {
        self.fetcher.post(post).await
    }
}

impl fmt::Debug for CachedDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedDocuments")
            .field("urls", &self.slots(What::Document).len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
