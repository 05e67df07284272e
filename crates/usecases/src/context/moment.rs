//! What is remembered for a moment: it is used for 200 ms without asking storage again, and a change is answered
//! after 220 ms. By then no replica uses older values (ADR 0024).

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use countersign_ports::Clock;

/// How long a value is used, counted from just before it was read.
const USED_FOR: Duration = Duration::from_millis(200);
/// How long a change waits. It is longer, because the clocks of two machines run at slightly different
/// speeds.
const FORGOTTEN_AFTER: Duration = Duration::from_millis(220);

/// Until when a value that was asked for at this time is used, by the monotonic clock. The time is taken before
/// reading, so that every change that was answered by then is in what is read.
pub(super) fn used_until(asked_at: Duration) -> Duration {
    asked_at + USED_FOR
}

/// Waits until no replica uses what it read before a change.
pub(super) async fn until_forgotten(clock: &dyn Clock) {
    clock.wait(FORGOTTEN_AFTER).await;
}

/// One value that is remembered for a moment.
pub(super) struct Moment<T> {
    known: RwLock<Option<Remembered<T>>>,
}

#[derive(Clone)]
struct Remembered<T> {
    value: T,
    /// By the monotonic clock.
    until: Duration,
}

impl<T> Default for Moment<T> {
    fn default() -> Self {
        Self { known: RwLock::default() }
    }
}

impl<T: Clone> Moment<T> {
    /// The value, if it may still be used at this time.
    pub(super) fn get(&self, asked_at: Duration) -> Option<T> {
        self.known().filter(|known| asked_at < known.until).map(|known| known.value)
    }

    /// The value that was read last, however long ago.
    pub(super) fn last(&self) -> Option<T> {
        self.known().map(|known| known.value)
    }

    /// Remembers a value that was asked for at this time.
    pub(super) fn keep(&self, value: T, asked_at: Duration) {
        let known = Remembered { value, until: used_until(asked_at) };
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
    }

    fn known(&self) -> Option<Remembered<T>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
