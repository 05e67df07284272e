//! Epochs: what was handed out before a backup was restored is good no longer.

use countersign_domain::event::Event;
use countersign_domain::id::EpochId;
use time::OffsetDateTime;

/// Begins an epoch.
#[derive(Clone, Debug)]
pub struct RaiseEpoch {
    /// Its id.
    pub id: EpochId,
    /// When it begins.
    pub now: OffsetDateTime,
    /// What to record.
    pub event: Option<Box<Event>>,
}
