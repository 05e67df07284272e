//! How far events were pushed, and which wait.

use async_trait::async_trait;
use countersign_domain::event_push::{DelayedEvent, ReceiverId};

use crate::StoreError;

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

/// How far events were pushed. Every write is durable before the answer.
#[async_trait]
pub trait EventPushStore: Send + Sync {
    /// Begins to push to a receiver. Guard: that was not begun before. The answer says whether it was begun now.
    async fn begin_push(&self, command: BeginPush) -> Result<bool, StoreError>;

    /// Reads how far events were pushed to a receiver; `None` if that was not begun.
    async fn find_push(&self, receiver: ReceiverId) -> Result<Option<EventPush>, StoreError>;

    /// Notes what became of some events, atomically. Guard: the round is the one that was read; so of two
    /// replicas that push at once only one is heard. The answer says whether it was noted; a repeat is not.
    async fn advance_push(&self, command: AdvancePush) -> Result<bool, StoreError>;
}
