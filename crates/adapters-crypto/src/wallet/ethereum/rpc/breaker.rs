//! When an RPC address is not asked: after failures in a row it is left alone for a while, and then one caller tries.

use std::time::{Duration, Instant};

/// So many failures in a row open the breaker (D-25 allows ten).
const PATIENCE: u32 = 5;
/// For so long nobody asks.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// What is known of an RPC address.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    /// It said that it speaks for the configured chain, and has not been away since (B-046).
    is_right_chain: bool,
    open_until: Option<Instant>,
}

/// May it be asked?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// Yes.
    Ask,
    /// Yes, and first which chain it speaks for.
    AskForItsChain,
    /// Not now.
    LeaveAlone,
}

impl Breaker {
    /// Decides for one caller.
    pub(super) fn admit(&mut self, now: Instant) -> Admission {
        match self.open_until {
            Some(end) if now < end => return Admission::LeaveAlone,
            // This caller tries. The others wait for its outcome, or for a next one to try if it never comes back.
            Some(_) => self.open_until = Some(now + PAUSE),
            None => {}
        }
        if self.is_right_chain { Admission::Ask } else { Admission::AskForItsChain }
    }

    /// Notes that a caller got what it asked for. One that was admitted before the breaker opened does not close it.
    pub(super) fn succeeded(&mut self, admission: Admission) {
        match admission {
            Admission::AskForItsChain => {
                *self = Self { failures: 0, is_right_chain: true, open_until: None };
            }
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
        self.is_right_chain = false;
        was_closed
    }
}

#[cfg(test)]
mod tests {
    use super::Admission::{Ask, AskForItsChain, LeaveAlone};
    use super::*;

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::default();
        let opens: Vec<_> = (0..PATIENCE).map(|_| breaker.failed(now)).collect();
        assert_eq!(opens, [false, false, false, false, true]);
        breaker
    }

    #[test]
    fn b_046_the_chain_is_asked_for_before_the_first_use_and_after_each_pause() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        assert_eq!(breaker.admit(now), AskForItsChain);
        breaker.succeeded(AskForItsChain);
        assert_eq!(breaker.admit(now), Ask);
        for _ in 0..PATIENCE {
            breaker.failed(now);
        }
        assert_eq!(breaker.admit(now + PAUSE), AskForItsChain);
    }

    #[test]
    fn d_25_five_failures_in_a_row_open_it_and_one_success_between_them_does_not() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        breaker.succeeded(AskForItsChain);
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
        assert_eq!([breaker.admit(later), breaker.admit(later)], [AskForItsChain, LeaveAlone]);
        assert!(!breaker.failed(later));
        assert_eq!(breaker.admit(later + PAUSE / 2), LeaveAlone);
        assert_eq!(breaker.admit(later + PAUSE), AskForItsChain);
        breaker.succeeded(AskForItsChain);
        assert_eq!([breaker.admit(later + PAUSE), breaker.admit(later + PAUSE)], [Ask, Ask]);
    }

    #[test]
    fn a_caller_that_never_comes_back_does_not_keep_it_open_for_ever() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert_eq!(breaker.admit(now + PAUSE), AskForItsChain);
        assert_eq!(breaker.admit(now + 2 * PAUSE), AskForItsChain);
    }

    #[test]
    fn a_late_success_does_not_close_it() {
        let now = Instant::now();
        let mut breaker = opened(now);
        breaker.succeeded(Ask);
        assert_eq!(breaker.admit(now), LeaveAlone);
    }
}
