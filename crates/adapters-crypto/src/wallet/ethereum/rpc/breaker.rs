//! When an RPC address is not asked: after failures in a row it is left alone for a while, and then one caller tries.
//!
//! It breaks what it counts: an address that did not answer in the time that was its own. Whoever waited here for others, and
//! whoever asks out of curiosity, is not counted (F-16).

use std::time::{Duration, Instant};

/// So many failures in a row open the breaker (D-25 allows ten).
const PATIENCE: u32 = 5;
/// For so long nobody asks.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// What is known of an RPC address.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    open_until: Option<Instant>,
}

/// May it be asked?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// Yes.
    Ask,
    /// Yes, for all who wait: the outcome decides whether others may.
    Try,
    /// Not now.
    LeaveAlone,
}

impl Breaker {
    /// Decides for one caller.
    pub(super) fn admit(&mut self, now: Instant) -> Admission {
        match self.open_until {
            None => Admission::Ask,
            Some(end) if now < end => Admission::LeaveAlone,
            Some(_) => {
                // The others wait for its outcome, or for a next one to try if it never comes back.
                self.open_until = Some(now + PAUSE);
                Admission::Try
            }
        }
    }

    /// Decides for one who is not counted, and so never tries for others.
    pub(super) const fn admit_uncounted(&self) -> Admission {
        if self.open_until.is_none() { Admission::Ask } else { Admission::LeaveAlone }
    }

    /// Notes that a caller got what it asked for. One that was admitted before the breaker opened does not close it.
    pub(super) fn succeeded(&mut self, admission: Admission) {
        match admission {
            Admission::Try => *self = Self::default(),
            Admission::Ask | Admission::LeaveAlone if self.open_until.is_none() => self.failures = 0,
            Admission::Ask | Admission::LeaveAlone => {}
        }
    }

    /// Notes a failure, and says whether it opened the breaker.
    pub(super) fn failed(&mut self, now: Instant) -> bool {
        self.failures = self.failures.saturating_add(1);
        if self.failures < PATIENCE {
            return false;
        }
        let was_closed = self.open_until.is_none();
        self.open_until = Some(now + PAUSE);
        was_closed
    }
}

#[cfg(test)]
mod tests {
    use super::Admission::{Ask, LeaveAlone, Try};
    use super::*;

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::default();
        let opens: Vec<_> = (0..PATIENCE).map(|_| breaker.failed(now)).collect();
        assert_eq!(opens, [false, false, false, false, true]);
        breaker
    }

    #[test]
    fn d_25_five_failures_in_a_row_open_it_and_one_success_between_them_does_not() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 0..PATIENCE - 1 {
            breaker.failed(now);
        }
        breaker.succeeded(Ask);
        for _ in 0..PATIENCE - 1 {
            breaker.failed(now);
        }
        assert_eq!(breaker.admit(now), Ask);
        breaker.failed(now);
        assert_eq!(breaker.admit(now), LeaveAlone);
    }

    #[test]
    fn after_the_pause_one_caller_tries_and_its_outcome_decides() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let later = now + PAUSE;
        assert_eq!(breaker.admit(later - Duration::from_millis(1)), LeaveAlone);
        assert_eq!([breaker.admit(later), breaker.admit(later)], [Try, LeaveAlone]);
        assert!(!breaker.failed(later));
        assert_eq!(breaker.admit(later + PAUSE / 2), LeaveAlone);
        assert_eq!(breaker.admit(later + PAUSE), Try);
        breaker.succeeded(Try);
        assert_eq!([breaker.admit(later + PAUSE), breaker.admit(later + PAUSE)], [Ask, Ask]);
    }

    #[test]
    fn f_16_who_is_not_counted_never_tries_for_others() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert_eq!(breaker.admit_uncounted(), LeaveAlone);
        let later = now + PAUSE;
        assert_eq!(breaker.admit_uncounted(), LeaveAlone);
        assert_eq!(breaker.admit(later), Try);
        breaker.succeeded(Try);
        assert_eq!(breaker.admit_uncounted(), Ask);
    }

    #[test]
    fn a_caller_that_never_comes_back_does_not_keep_it_open_for_ever() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert_eq!(breaker.admit(now + PAUSE), Try);
        assert_eq!(breaker.admit(now + 2 * PAUSE), Try);
    }

    #[test]
    fn a_late_success_does_not_close_it() {
        let now = Instant::now();
        let mut breaker = opened(now);
        breaker.succeeded(Ask);
        assert_eq!(breaker.admit(now), LeaveAlone);
    }
}
