//! What is known elsewhere already, and only asked for when somebody reads.

use std::time::Duration;

/// Somebody who knows. Asked at every reading, so it answers from memory.
pub trait Source: Send + Sync {
    /// How long each key has signed that signs now, by its algorithm.
    fn signing_key_ages(&self) -> Vec<(&'static str, Duration)>;

    /// What the storage's writer did; `None` for a storage that has none.
    fn writer(&self) -> Option<WriterFigures>;
}

/// What a writer thread that shares commits has done since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterFigures {
    /// Batches that were committed.
    pub commits: u64,
    /// Commands in them.
    pub commands: u64,
    /// The most commands that shared one commit.
    pub largest_batch: u64,
    /// Batches that failed.
    pub failures: u64,
    /// Commands that wait now.
    pub waiting: u64,
}
