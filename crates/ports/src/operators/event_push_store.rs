//! How far events were pushed, and which wait.

use countersign_domain::event_push::{DelayedEvent, ReceiverId};

/// How far events were pushed to a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPush {
    /// All events up to this position were taken, given up or delayed.
    pub position: u64,
    /// Rises with every [`AdvancePush`].
    pub round: u64,
    /// The events that wait, in the order of their positions.
    pub delayed: Vec<DelayedEvent>,
}

/// Begins to push to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeginPush {
    /// The receiver.
    pub receiver: ReceiverId,
    /// The event after this position is the first.
    pub position: u64,
}

/// Notes what became of some events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvancePush {
    /// The receiver.
    pub receiver: ReceiverId,
    /// The round that was read.
    pub round: u64,
    /// All events up to this position were taken, given up or delayed.
    pub position: u64,
    /// The events that wait from now on. All others do not wait any more.
    pub delayed: Vec<DelayedEvent>,
}
