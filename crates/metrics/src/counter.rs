//! A number that only grows.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one more.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many there were.
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
