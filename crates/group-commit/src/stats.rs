//! Counters of the writer. Each is one relaxed atomic, so counting costs almost nothing.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the writer has done since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Batches that were committed.
    pub commits: u64,
    /// Commands in those batches.
    pub commands: u64,
    /// The most commands that shared one commit.
    pub largest_batch: u64,
    /// Batches that failed.
    pub failures: u64,
}

/// The counters behind [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    commits: AtomicU64,
    commands: AtomicU64,
    largest_batch: AtomicU64,
    failures: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, commands: usize) {
        let commands = u64::try_from(commands).unwrap_or(u64::MAX);
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.commands.fetch_add(commands, Ordering::Relaxed);
        self.largest_batch.fetch_max(commands, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Stats {
        Stats {
            commits: self.commits.load(Ordering::Relaxed),
            commands: self.commands.load(Ordering::Relaxed),
            largest_batch: self.largest_batch.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
        }
    }
}
