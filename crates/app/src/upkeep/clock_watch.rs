//! Compares the machine's clock with what else is known of the time: the database's clock, or the time that
//! was last written down.
//!
//! On PostgreSQL the servers follow the database's clock. So replicas agree on what has expired, however
//! their own clocks are set. Between two readings of it, time passes by a monotonic clock that cannot be set.
//! On SQLite the machine's clock is the only one. What may be purged is judged by everything that is known of
//! the time (`countersign_domain::forgetting`).

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use countersign_domain::forgetting::{ClockDoubt, JudgedClock, Past, TimeMark, TimeWitness, judge_clock};
use countersign_ports::{Clock, StoreError, Upkeep};
use time::OffsetDateTime;

/// The mark in the database is renewed when it is this old, so that a look at the clocks rarely costs a
/// write.
const MARK_EVERY: Duration = Duration::from_secs(60);
/// How often the same warning is repeated.
const TELL_EVERY: Duration = Duration::from_secs(3_600);
/// Smaller differences are not corrected.
const FINE: Duration = Duration::from_millis(50);
/// A reading that took longer than this is not used.
const SLOW: Duration = Duration::from_secs(2);

/// Compares clocks, and remembers the result.
pub(crate) struct ClockWatch {
    own: Arc<dyn Clock>,
    /// The clock that all replicas follow, if it is the database's.
    shared: Option<Arc<DatabaseClock>>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    mark: Option<Marked>,
    /// The last doubt that was reported, and when.
    reported: Option<(ClockDoubt, Duration)>,
}

/// What is known of the time, and the monotonic clock's reading at that moment.
#[derive(Clone, Copy)]
struct Marked {
    mark: TimeMark,
    at: Duration,
    written_at: Duration,
}

impl ClockWatch {
    /// Compares the clocks for the first time. If the operator vouches for the machine's clock, it is
    /// trusted.
    pub(crate) async fn start(
        own: Arc<dyn Clock>,
        storage: &dyn Upkeep,
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

    /// The clock that the server follows.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        match &self.shared {
            Some(shared) => Arc::<DatabaseClock>::clone(shared),
            None => Arc::clone(&self.own),
        }
    }

    /// Compares the clocks again, and returns the bound that every deletion takes.
    pub(crate) async fn look(&self, storage: &dyn Upkeep) -> Result<Past, StoreError> {
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

    /// Warns the operator when a doubt begins, now and then while it lasts, and when it is over.
    fn tell(&self, doubt: Option<ClockDoubt>, elapsed: Duration) {
        let mut seen = self.seen();
        let Some(doubt) = doubt else {
            if seen.reported.take().is_some() {
                tracing::info!("the clock is trusted again: expired rows are deleted as usual");
            }
            return;
        };
        let is_known = seen.reported.is_some_and(|(reported, at)| {
            reported.direction() == doubt.direction() && elapsed.saturating_sub(at) < TELL_EVERY
        });
        if is_known {
            return;
        }
        seen.reported = Some((doubt, elapsed));
        let (direction, seconds) = (doubt.direction(), doubt.difference().whole_seconds());
        if self.shared.is_some() {
            tracing::warn!(
                direction,
                seconds,
                "this machine's clock differs from the database's: the server follows the database's, and \
                 deletes expired rows by the slower of the two; set the clocks right"
            );
        } else {
            tracing::warn!(
                direction,
                seconds,
                "the clock is not where it was expected: either it is wrong, or the server was off; nothing \
                 is deleted by it for now. Set the clock right, or, if it is right, start once with \
                 `countersign serve --clock-is-right`"
            );
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The database's clock. It is read now and then; in between, time passes by a clock that cannot be set.
struct DatabaseClock {
    own: Arc<dyn Clock>,
    /// The database's time when the monotonic clock started, in microseconds since 1970.
    beginning: AtomicI64,
}

impl DatabaseClock {
    fn at(own: Arc<dyn Clock>, now: OffsetDateTime) -> Self {
        let beginning = AtomicI64::new(beginning(now, own.elapsed()));
        Self { own, beginning }
    }

    /// Follows the database's clock if the difference is larger than the time that it took to ask.
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
