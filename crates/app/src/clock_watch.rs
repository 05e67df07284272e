//! The server's clock beside others: what the database's says, or what was written down.
//!
//! On PostgreSQL the servers go by the database's clock, so that replicas agree on what has expired however their own clocks are
//! set. Between two looks at it time passes by a clock that nobody sets. On SQLite the machine's clock is the only one. What may
//! be forgotten is judged by all that is known (`countersign_domain::forgetting`).

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use countersign_domain::forgetting::{ClockDoubt, JudgedClock, TimeMark, TimeWitness, judge_clock};
use countersign_ports::{Clock, Storage, StoreError};
use time::OffsetDateTime;

/// How old what is written down may be: a write now and then, not one for each look.
const MARK_EVERY: Duration = Duration::from_secs(60);
/// How often the operator is told the same.
const TELL_EVERY: Duration = Duration::from_secs(3_600);
/// Smaller corrections are not worth a step.
const FINE: Duration = Duration::from_millis(50);
/// Whoever took longer to say what the time is has not said it.
const SLOW: Duration = Duration::from_secs(2);

/// Compares clocks, and remembers what it found.
pub(crate) struct ClockWatch {
    own: Arc<dyn Clock>,
    /// The clock that everybody else goes by, where that is the database's.
    shared: Option<Arc<DatabaseClock>>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    mark: Option<Marked>,
    /// What the operator was told last, and when.
    told: Option<(ClockDoubt, Duration)>,
}

/// What is known of the time, and what the clock that nobody sets said then.
#[derive(Clone, Copy)]
struct Marked {
    mark: TimeMark,
    at: Duration,
    written_at: Duration,
}

impl ClockWatch {
    /// Looks at the clocks for the first time. Where somebody says that the machine's clock is right, it is believed.
    pub(crate) async fn start(
        own: Arc<dyn Clock>,
        storage: &dyn Storage,
        is_right: bool,
    ) -> Result<Self, StoreError> {
        if is_right {
            storage.mark_time(TimeMark::trusting(own.now())).await?;
        }
        let shared = match storage.time_witness().await? {
            TimeWitness::Clock(now) => Some(Arc::new(DatabaseClock::at(Arc::clone(&own), now))),
            TimeWitness::Mark(_) => None,
        };
        let watch = Self { own, shared, seen: Mutex::default() };
        watch.look(storage).await?;
        Ok(watch)
    }

    /// The clock that the server goes by.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        match &self.shared {
            Some(shared) => Arc::<DatabaseClock>::clone(shared),
            None => Arc::clone(&self.own),
        }
    }

    /// Looks at the clocks again, and gives the time before which whatever ended may be forgotten.
    pub(crate) async fn look(&self, storage: &dyn Storage) -> Result<OffsetDateTime, StoreError> {
        let asked_at = self.own.elapsed();
        let witness = storage.time_witness().await?;
        let (now, elapsed) = (self.own.now(), self.own.elapsed());
        let took = elapsed.saturating_sub(asked_at);
        if let (Some(shared), TimeWitness::Clock(database)) = (&self.shared, witness)
            && took <= SLOW
        {
            shared.follow(database + took / 2, took + FINE);
        }
        let known = self.seen().mark;
        let (witness, passed) = match (witness, known) {
            (TimeWitness::Mark(_), Some(known)) => {
                (TimeWitness::Mark(Some(known.mark)), elapsed.saturating_sub(known.at))
            }
            (witness, _) => (witness, Duration::ZERO),
        };
        let passed = time::Duration::try_from(passed).unwrap_or(time::Duration::MAX);
        let JudgedClock { before, doubt, mark } = judge_clock(now, witness, passed);
        self.tell(doubt, elapsed);
        if let Some(mark) = mark {
            let is_new = known.is_none_or(|known| known.mark.doubted_for.is_zero() != doubt.is_none());
            let is_old = known.is_some_and(|known| elapsed.saturating_sub(known.written_at) >= MARK_EVERY);
            let mut written_at = known.map_or(elapsed, |known| known.written_at);
            if is_new || is_old {
                storage.mark_time(mark).await?;
                written_at = elapsed;
            }
            self.seen().mark = Some(Marked { mark, at: elapsed, written_at });
        }
        Ok(before)
    }

    /// Tells the operator when the doubt begins, now and then while it lasts, and when it is over.
    fn tell(&self, doubt: Option<ClockDoubt>, elapsed: Duration) {
        let mut seen = self.seen();
        let Some(doubt) = doubt else {
            if seen.told.take().is_some() {
                tracing::info!("the clock is believed again: forgetting goes on as usual");
            }
            return;
        };
        let is_known = seen.told.is_some_and(|(told, at)| {
            told.direction() == doubt.direction() && elapsed.saturating_sub(at) < TELL_EVERY
        });
        if is_known {
            return;
        }
        seen.told = Some((doubt, elapsed));
        let (direction, seconds) = (doubt.direction(), doubt.difference().whole_seconds());
        if self.shared.is_some() {
            tracing::warn!(
                direction,
                seconds,
                "this machine's clock differs from the database's: the server goes by the database's, and forgets by the \
                 slower of the two; set the clocks right"
            );
        } else {
            tracing::warn!(
                direction,
                seconds,
                "the clock is not where it was expected: either it is wrong, or the server was off; nothing is forgotten \
                 by it for now. Set the clock right, or, if it is, start once with `countersign serve --clock-is-right`"
            );
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The database's clock, asked now and then; in between time passes by one that nobody sets.
struct DatabaseClock {
    own: Arc<dyn Clock>,
    /// What the database's clock said when nothing had passed, in microseconds since 1970.
    beginning: AtomicI64,
}

impl DatabaseClock {
    fn at(own: Arc<dyn Clock>, now: OffsetDateTime) -> Self {
        let beginning = AtomicI64::new(beginning(now, own.elapsed()));
        Self { own, beginning }
    }

    /// Follows the database's clock if it is further away than it takes to ask.
    fn follow(&self, now: OffsetDateTime, tolerance: Duration) {
        let beginning = beginning(now, self.own.elapsed());
        let difference = beginning.abs_diff(self.beginning.load(Ordering::Relaxed));
        if u128::from(difference) > tolerance.as_micros() {
            self.beginning.store(beginning, Ordering::Relaxed);
        }
    }
}

#[async_trait]
impl Clock for DatabaseClock {
    fn now(&self) -> OffsetDateTime {
        let elapsed = i64::try_from(self.own.elapsed().as_micros()).unwrap_or(i64::MAX);
        let micros = self.beginning.load(Ordering::Relaxed).saturating_add(elapsed);
        let since = time::Duration::microseconds(micros);
        OffsetDateTime::UNIX_EPOCH.checked_add(since).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    fn elapsed(&self) -> Duration {
        self.own.elapsed()
    }

    async fn wait(&self, duration: Duration) {
        self.own.wait(duration).await;
    }
}

fn beginning(now: OffsetDateTime, elapsed: Duration) -> i64 {
    let micros = (now - OffsetDateTime::UNIX_EPOCH).whole_microseconds();
    let elapsed = i128::try_from(elapsed.as_micros()).unwrap_or(i128::MAX);
    i64::try_from(micros.saturating_sub(elapsed)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
