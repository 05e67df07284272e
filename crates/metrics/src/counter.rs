//! A number that only goes up.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that many threads can share.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The current count.
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
