//! The machine's clock: the one place in the product that asks the machine for the time.

use countersign_ports::Clock;
use time::OffsetDateTime;

/// The time as the operating system has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this adapter is the clock that everybody else asks")]
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_tells_the_time_in_utc_and_later_is_not_earlier() {
        let first = SystemClock.now();
        let second = SystemClock.now();
        assert!(first.offset().is_utc() && first.unix_timestamp() > 1_700_000_000 && second >= first);
    }
}
