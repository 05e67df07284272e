//! Numbers that another part of the program already has, read only when the page is read.

use std::time::Duration;

/// Answers from memory, because it is asked on every read of the page.
pub trait Source: Send + Sync {
    /// How long each current signing key has been signing, by its algorithm.
    fn signing_key_ages(&self) -> Vec<(&'static str, Duration)>;

    /// How often clients authenticated with a secret.
    fn secret_uses(&self) -> SecretFigures;

    /// What became of the events that are pushed.
    fn pushes(&self) -> PushFigures;

    /// How well events are sealed.
    fn seals(&self) -> SealFigures;

    /// What the storage's writer has done; `None` if the storage has no writer.
    fn writer(&self) -> Option<WriterFigures>;
}

/// How often clients authenticated with a secret since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretFigures {
    /// With their current one.
    pub current: u64,
    /// With the one before it.
    pub old: u64,
}

/// What became of the events that are pushed, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PushFigures {
    /// Events that the receiver took.
    pub taken: u64,
    /// Tries that failed.
    pub failed: u64,
    /// Events that were given up, or deleted before they were taken.
    pub lost: u64,
    /// Events that are still to be taken, when this replica last looked.
    pub pending: u64,
}

/// How well events are sealed, when this replica last looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SealFigures {
    /// How long the event that waits longest has waited.
    pub waited: Duration,
    /// Rows that cannot be sealed.
    pub unsealable: u64,
}

/// What a writer thread that shares commits has done since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterFigures {
    /// Batches that were committed.
    pub commits: u64,
    /// Commands in those batches.
    pub commands: u64,
    /// The most commands that shared one commit.
    pub largest_batch: u64,
    /// Batches that failed.
    pub failures: u64,
    /// Commands that are waiting now.
    pub waiting: u64,
}
