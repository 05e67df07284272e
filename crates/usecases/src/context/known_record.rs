//! What was seen of the record of events.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_domain::checkpoint::{Digest256, SignedCheckpoint};

/// What a running server remembers of its record, so that it notices a shorter or another one.
#[derive(Debug, Default)]
pub struct KnownRecord(Mutex<SeenRecord>);

#[derive(Debug, Default)]
struct SeenRecord {
    /// The last checkpoint that was seen.
    last: Option<(u64, Digest256)>,
    /// Hashes of old checkpoints that are authentic, a page apart.
    anchors: BTreeMap<u64, Digest256>,
}

impl KnownRecord {
    fn known(&self) -> MutexGuard<'_, SeenRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number and the hash of the last checkpoint that was seen.
    pub(crate) fn last(&self) -> Option<(u64, Digest256)> {
        self.known().last
    }

    /// Remembers the last checkpoint.
    pub(crate) fn remember(&self, last: &SignedCheckpoint) {
        self.known().last = Some((last.checkpoint.number, last.hash()));
    }

    /// The hash of this checkpoint, if it is an old one that was found authentic.
    pub(crate) fn anchor(&self, number: u64) -> Option<Digest256> {
        self.known().anchors.get(&number).copied()
    }

    /// Remembers hashes of old checkpoints that were found authentic.
    pub(crate) fn add_anchors(&self, mut anchors: BTreeMap<u64, Digest256>) {
        self.known().anchors.append(&mut anchors);
    }
}
