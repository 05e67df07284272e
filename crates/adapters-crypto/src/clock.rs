//! The machine's clock. This is the only place in the product that asks the machine for the time.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use countersign_ports::Clock;
use time::OffsetDateTime;

/// The start of the elapsed time: the moment of the first call.
static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The operating system's time.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this adapter is the clock that everything else uses")]
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }

    fn elapsed(&self) -> Duration {
        BEGINNING.elapsed()
    }

    async fn wait(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
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

    #[tokio::test]
    async fn who_waits_finds_that_it_passed() {
        let before = SystemClock.elapsed();
        SystemClock.wait(Duration::from_millis(20)).await;
        assert!(SystemClock.elapsed() - before >= Duration::from_millis(20));
    }
}
