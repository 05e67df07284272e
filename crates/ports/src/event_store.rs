//! Events, and the checkpoints that seal them.
//!
//! An event is stored by the operation whose act it tells of, in the same commit: commands carry it in a field
//! `event`. The row is stored if and only if the operation changed something. A refusal stores none, and
//! neither does a repeat of a command. Where the event names no person, storage fills in the user whom the
//! operation was about.
//!
//! Such an event is *fresh*. A caller seals fresh events: they get consecutive positions, and a checkpoint. From
//! then on nothing about them changes, except that deleting an account takes the person away.

use async_trait::async_trait;
use countersign_domain::checkpoint::{SealedEvent, SignedCheckpoint};
use countersign_domain::event::{Event, EventKind, Pseudonym};
use countersign_domain::id::{ClientId, EventId, UserId};
use countersign_domain::wallet::WalletAccount;
use time::OffsetDateTime;

use crate::{DayCount, StoreError};

/// Which events are read: those to which every part applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Events since this time, in whole milliseconds.
    pub since: Option<OffsetDateTime>,
    /// Events before this time, in whole milliseconds.
    pub until: Option<OffsetDateTime>,
    /// Events of one of these kinds; of every kind if there is none.
    pub kinds: Vec<EventKind>,
    /// Events about this user or this wallet.
    pub who: Option<EventSubject>,
    /// Events about this client.
    pub client: Option<ClientId>,
}

/// Whom events are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSubject {
    /// A user.
    User(UserId),
    /// A wallet, by family and address: only events that name no user.
    Wallet(WalletAccount),
    /// A user whose account was deleted.
    Deleted(Pseudonym),
}

/// A page of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// In which order.
    pub order: EventOrder,
    /// After this event in that order. It need not exist.
    pub after: Option<EventId>,
    /// The most events to read.
    pub limit: u32,
}

/// The order of events: that of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOrder {
    /// The newest first.
    NewestFirst,
    /// The oldest first.
    OldestFirst,
}

/// An event that was looked up, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundEvent {
    /// The event.
    pub event: Event,
    /// Its position; `None` while it is fresh.
    pub position: Option<u64>,
}

/// What stands at a position, for whoever verifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventAt {
    /// An event.
    Event(Box<SealedEvent>),
    /// A row that cannot be an event.
    Unreadable {
        /// Its position.
        position: u64,
        /// What is wrong with it.
        problem: String,
    },
}

impl EventAt {
    /// The position.
    pub fn position(&self) -> u64 {
        match self {
            Self::Event(sealed) => sealed.position,
            Self::Unreadable { position, .. } => *position,
        }
    }
}

/// What is stored under the number of a checkpoint, for whoever verifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointAt {
    /// A checkpoint.
    Checkpoint(Box<SignedCheckpoint>),
    /// A row that cannot be a checkpoint.
    Unreadable {
        /// Its number.
        number: u64,
        /// What is wrong with it.
        problem: String,
    },
}

impl CheckpointAt {
    /// The number.
    pub fn number(&self) -> u64 {
        match self {
            Self::Checkpoint(signed) => signed.checkpoint.number,
            Self::Unreadable { number, .. } => *number,
        }
    }
}

/// Seals fresh events.
#[derive(Clone, Debug)]
pub struct SealEvents {
    /// The checkpoint.
    pub checkpoint: SignedCheckpoint,
    /// Its events, in the order of their positions.
    pub events: Vec<SealedEvent>,
    /// How often what happened, among these events. It is added to what is counted already.
    pub counts: Vec<DayCount>,
}

/// The outcome of [`SealEvents`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealed {
    /// The checkpoint is stored, and its events are no longer fresh. A repeat of the same command gives this too.
    Sealed,
    /// Another checkpoint has this number, the one before it is not the last, or an event is not fresh any more
    /// or changed since it was read. Nothing changed.
    Stale,
}

/// Deletes sealed events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForgetEvents {
    /// Events at positions before this are deleted.
    pub before: u64,
    /// Whole checkpoints are emptied, the oldest first, up to this many.
    pub checkpoints: u32,
}

/// Takes or keeps a lease.
#[derive(Clone, Debug)]
pub struct TakeLease {
    /// What it is for.
    pub name: &'static str,
    /// Who wants it.
    pub holder: [u8; 16],
    /// The time of the request.
    pub now: OffsetDateTime,
    /// Until when it is wanted.
    pub until: OffsetDateTime,
}

/// Events, and the checkpoints that seal them. Every write is durable before the answer.
#[async_trait]
pub trait EventStore: Send + Sync {
    /// Stores an event of which no other operation tells. Guard: no event, fresh or sealed, has its id. The
    /// answer says whether it is stored now.
    async fn record_event(&self, event: Event) -> Result<bool, StoreError>;

    /// Reads a page of events, fresh and sealed, from one snapshot.
    async fn list_events(&self, filter: &EventFilter, page: EventPage) -> Result<Vec<Event>, StoreError>;

    /// Reads one event, fresh or sealed.
    async fn find_event(&self, id: EventId) -> Result<Option<FoundEvent>, StoreError>;

    /// Reads up to `limit` fresh events, in the order of their ids.
    async fn fresh_events(&self, limit: u32) -> Result<Vec<Event>, StoreError>;

    /// Seals events, atomically. Guards: the checkpoint's number is one more than that of the last checkpoint
    /// (the first is 1); it begins at the position after the last one's, and has as many events as are given;
    /// and each event is fresh and as it was read. The counts are added in the same commit, once. An account that is deleted at the same time is deleted
    /// entirely before, and the command is stale, or entirely after, and its person is taken away from the
    /// sealed events too.
    async fn seal_events(&self, command: SealEvents) -> Result<Sealed, StoreError>;

    /// Reads the last checkpoint.
    async fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError>;

    /// Reads up to `limit` checkpoints with numbers greater than `after`, in their order.
    async fn checkpoints(&self, after: u64, limit: u32) -> Result<Vec<CheckpointAt>, StoreError>;

    /// Reads up to `limit` sealed events at positions greater than `after`, in their order.
    async fn sealed_events(&self, after: u64, limit: u32) -> Result<Vec<EventAt>, StoreError>;

    /// Counts the events, fresh and sealed, that name a person by this pseudonym, except the event of the
    /// deletion itself.
    async fn count_events_of(&self, pseudonym: Pseudonym) -> Result<u64, StoreError>;

    /// Deletes sealed events, a whole checkpoint's at a time, each atomically. Checkpoints stay. The answer says
    /// how many events were deleted; none means that there is nothing left to delete.
    async fn forget_events(&self, command: ForgetEvents) -> Result<u64, StoreError>;

    /// Takes a lease, or extends it. Guard: nobody else holds it at `now`. The answer says whether the holder has
    /// it until `until`.
    async fn take_lease(&self, command: TakeLease) -> Result<bool, StoreError>;
}
