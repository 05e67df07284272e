//! Decides when an RPC address is not asked. After several failures in a row it is left alone for a while,
//! and then one caller tries it.
//!
//! Only one thing counts as a failure: the address did not answer in the time that was its own. Callers that
//! waited here for others, and requests made out of curiosity, do not count (F-16).

use std::time::{Duration, Instant};

/// This many failures in a row open the breaker (D-25 allows ten).
const PATIENCE: u32 = 5;
/// How long no requests are sent.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// What is known of an RPC address.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    open_until: Option<Instant>,
}

/// Whether a caller may ask the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// Yes.
    Ask,
    /// Yes, on behalf of everyone who waits: the outcome decides whether the others may ask.
    Try,
    /// No, not now.
    LeaveAlone,
}

impl Breaker {
    /// Decides for one caller.
    pub(super) fn admit(&mut self, now: Instant) -> Admission {
        match self.open_until {
            None => Admission::Ask,
            Some(end) if now < end => Admission::LeaveAlone,
            Some(_) => {
                // The others wait for this outcome. If it never comes, the next one tries.
                self.open_until = Some(now + PAUSE);
                Admission::Try
            }
        }
    }

    /// Decides for a caller that does not count, and so never tries on behalf of others.
    pub(super) const fn admit_uncounted(&self) -> Admission {
        if self.open_until.is_none() { Admission::Ask } else { Admission::LeaveAlone }
    }

    /// Records that a caller got its answer. A caller that was admitted before the breaker opened does not
    /// close it.
    pub(super) fn succeeded(&mut self, admission: Admission) {
        match admission {
            Admission::Try => *self = Self::default(),
            Admission::Ask | Admission::LeaveAlone if self.open_until.is_none() => self.failures = 0,
            Admission::Ask | Admission::LeaveAlone => {}
        }
    }

    /// Records a failure, and returns whether it opened the breaker.
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
