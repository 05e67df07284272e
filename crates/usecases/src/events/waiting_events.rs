//! Events that wait to be sealed for too long, and rows that cannot be sealed.
//!
//! Events are sealed within seconds. One that waits longer can still be altered by anyone who can write to the
//! database, so a server, `doctor` and `event verify` say so. The time in an event's id does not tell how long it
//! waits: that time can be hours earlier than the row (`key_activated`, which a command leaves out), and anyone who can write to the database can
//! choose it. A server therefore measures by its own monotonic clock since it first saw the event. A command cannot
//! wait for a minute. It compares the event with what happened since, and looks a second time.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_domain::checkpoint::MAX_EVENTS;
use countersign_domain::id::EventId;
use countersign_ports::{Clock, DeskStore, EventStore, Recent, StoreError, UnsealableEvent};
use time::OffsetDateTime;

/// An event that waits for longer than this waits too long.
pub const TOO_LONG: Duration = Duration::from_mins(1);

/// Longer than a running server takes from one round of sealing to the next.
const NEXT_ROUND: Duration = Duration::from_secs(12);

/// The most rows that are named.
const NAMED: u32 = 100;

/// Which events cannot or do not get a seal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsealed {
    /// How long the event that waits longest has waited, as far as that was observed.
    pub waited: Duration,
    /// How many events wait for longer than [`TOO_LONG`], up to the most of one checkpoint.
    pub late: u64,
    /// The rows that cannot be sealed, up to a hundred.
    pub unsealable: Vec<UnsealableEvent>,
}

impl Unsealed {
    /// Is there nothing to report?
    pub fn is_fine(&self) -> bool {
        self.late == 0 && self.unsealable.is_empty()
    }
}

/// What to tell an operator.
impl fmt::Display for Unsealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.late > 0 {
            f.write_str("events have waited for more than a minute to be sealed")?;
        }
        if let Some(first) = self.unsealable.first() {
            let separator = if self.late > 0 { "; " } else { "" };
            let rows = self.unsealable.len();
            let most = usize::try_from(NAMED).unwrap_or(usize::MAX);
            let at_least = if rows >= most { "at least " } else { "" };
            write!(f, "{separator}{at_least}{rows} among the events cannot be sealed ({}", first.problem)?;
            f.write_str(if rows > 1 { ", …)" } else { ")" })?;
        }
        Ok(())
    }
}

/// Watches the events that wait, on a running server.
#[derive(Debug, Default)]
pub struct SealWatch {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// When each waiting event was first seen, by the monotonic clock.
    since: HashMap<EventId, Duration>,
    /// The last checkpoint, and since when there is none after it although events wait.
    stuck: Option<(u64, Duration)>,
    last: Unsealed,
}

impl SealWatch {
    /// Looks at the events that wait. The answer says what to tell the operator.
    pub async fn look(
        &self,
        storage: &(impl EventStore + ?Sized),
        clock: &(impl Clock + ?Sized),
    ) -> Result<Unsealed, StoreError> {
        let fresh = storage.fresh_events(MAX_EVENTS).await?;
        // What was written since the last round is read when it is sealed. Anything else there looks old soon.
        let recent = Recent::around(clock.now(), NEXT_ROUND.try_into().unwrap_or_default());
        let unsealable = storage.unsealable_events(NAMED, Some(recent)).await?;
        // A last checkpoint that cannot be read stops the sealing, which then shows in the events that wait.
        let last = storage.last_checkpoint().await.ok().flatten();
        let number = last.map_or(0, |last| last.checkpoint.number);
        let now = clock.elapsed();
        let mut seen = self.seen();
        let before = std::mem::take(&mut seen.since);
        let first_seen = |id| (id, before.get(&id).copied().unwrap_or(now));
        seen.since = fresh.iter().map(|event| first_seen(event.id)).collect();
        // Adding older and older events cannot hide that nothing is sealed.
        seen.stuck = match seen.stuck.filter(|(stuck_at, _)| *stuck_at == number) {
            _ if fresh.is_empty() => None,
            Some(stuck) => Some(stuck),
            None => Some((number, now)),
        };
        let waits = seen.since.values().chain(seen.stuck.as_ref().map(|(_, since)| since));
        let waited: Vec<_> = waits.map(|since| now.saturating_sub(*since)).collect();
        let late = waited.iter().filter(|waited| **waited > TOO_LONG).count();
        seen.last = Unsealed {
            waited: waited.into_iter().max().unwrap_or_default(),
            late: u64::try_from(late).unwrap_or(u64::MAX),
            unsealable,
        };
        Ok(seen.last.clone())
    }

    /// What the last look found.
    pub fn last(&self) -> Unsealed {
        self.seen().last.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at the events that wait, for a command, which does not know for how long they have waited. Events
/// that a server has passed over are late: more than a minute older than the newest thing that is known of
/// the database, and still there at a second look. A database without a writer, such as a copy, does not age.
pub async fn look_at_waiting(
    storage: &(impl EventStore + DeskStore + ?Sized),
    clock: &(impl Clock + ?Sized),
) -> Result<Unsealed, StoreError> {
    let mut late = passed_over(storage).await?;
    if !late.is_empty() {
        clock.wait(NEXT_ROUND).await;
        let still = passed_over(storage).await?;
        late.retain(|id| still.contains(id));
    }
    Ok(Unsealed {
        waited: Duration::ZERO,
        late: u64::try_from(late.len()).unwrap_or(u64::MAX),
        unsealable: storage.unsealable_events(NAMED, None).await?,
    })
}

async fn passed_over(storage: &(impl EventStore + DeskStore + ?Sized)) -> Result<Vec<EventId>, StoreError> {
    let fresh = storage.fresh_events(MAX_EVENTS).await?;
    let Some(newest) = fresh.last() else { return Ok(Vec::new()) };
    let sealed = storage.last_checkpoint().await?.map(|last| last.checkpoint.sealed_at);
    let replicas = storage.replicas(OffsetDateTime::UNIX_EPOCH).await?;
    let seen = replicas.into_iter().map(|replica| replica.seen_at);
    let latest = seen.chain(sealed).fold(newest.id.at_time(), OffsetDateTime::max);
    let dated = fresh.into_iter().filter(|event| !event.kind.is_recorded_later()).map(|event| event.id);
    Ok(dated.filter(|id| latest - id.at_time() > TOO_LONG).collect())
}
