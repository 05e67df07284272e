//! How long something takes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in nanoseconds: from a look-up to an outside service that does not
/// answer.
const ENDS: [u64; 16] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// The same bounds in seconds, as Prometheus reads them. The last bucket has no upper bound.
pub(crate) const BOUNDS: [&str; ENDS.len() + 1] = [
    "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5",
    "1", "2.5", "5", "10", "+Inf",
];

/// Durations in buckets. A histogram that was never used takes no memory.
#[derive(Debug, Default)]
pub struct Histogram(OnceLock<Box<Cells>>);

#[derive(Debug, Default)]
struct Cells {
    buckets: [AtomicU64; BOUNDS.len()],
    nanoseconds: AtomicU64,
}

/// The content of a histogram at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    /// For each bound, how many durations were no longer.
    pub(crate) within: [u64; BOUNDS.len()],
    /// The sum of all durations, in seconds.
    pub(crate) sum: f64,
}

impl Histogram {
    /// Records one duration.
    pub fn record(&self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = ENDS.iter().position(|end| nanoseconds <= *end).unwrap_or(ENDS.len());
        let cells = self.0.get_or_init(Box::default);
        cells.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        cells.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// What was recorded; `None` if nothing was.
    pub(crate) fn read(&self) -> Option<Reading> {
        let cells = self.0.get()?;
        let mut sum = 0;
        let within = cells.buckets.each_ref().map(|bucket| {
            sum += bucket.load(Ordering::Relaxed);
            sum
        });
        let took = Duration::from_nanos(cells.nanoseconds.load(Ordering::Relaxed));
        Some(Reading { within, sum: took.as_secs_f64() })
    }
}

impl Reading {
    /// How many durations were no longer than this, which is one of the bounds or between two of them: then those up
    /// to the lower one. All of them if there is no limit.
    pub(crate) fn up_to(&self, time: Option<Duration>) -> u64 {
        let Some(time) = time else { return self.within[ENDS.len()] };
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let whole = ENDS.iter().take_while(|end| **end <= nanoseconds).count();
        whole.checked_sub(1).map_or(0, |last| self.within[last])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_that_are_told_are_those_that_are_counted_by() {
        let told: Vec<f64> = BOUNDS.iter().map(|bound| bound.parse().unwrap()).collect();
        for (end, told) in ENDS.iter().zip(&told) {
            assert_eq!(Duration::from_nanos(*end).as_secs_f64(), *told);
        }
        assert!(told.is_sorted() && told.last().is_some_and(|last| last.is_infinite()));
    }

    #[test]
    fn a_time_is_in_the_bucket_of_its_bound_and_in_all_behind_it() {
        let histogram = Histogram::default();
        assert_eq!(histogram.read(), None);
        for nanoseconds in [100_000, 100_001, 20_000_000_000] {
            histogram.record(Duration::from_nanos(nanoseconds));
        }
        let reading = histogram.read().unwrap();
        assert_eq!(reading.within[..3], [1, 2, 2]);
        assert_eq!(reading.within[ENDS.len() - 1..], [2, 3]);
        let up_to = |time| reading.up_to(Some(Duration::from_nanos(time)));
        assert_eq!((up_to(99_999), up_to(100_000), up_to(260_000), reading.up_to(None)), (0, 1, 2, 3));
        assert!((reading.sum - 20.000_200_001).abs() < 1e-9, "{}", reading.sum);
    }
}
