//! Events, and the checkpoints that seal them.
//!
//! An event is stored by the operation of its act, in the same commit: commands carry it in a field `event`.
//! The row is stored if and only if the operation changed something. A refusal stores none, and neither does
//! a repeat of a command, which is recognized because it finds everything as it wants it. An act that would
//! change something fails, and changes nothing, if its event has an id that is stored already: that event is
//! about an earlier act. Where the event names no person, storage fills in the user the operation was about.
//!
//! Such an event is *fresh*. A caller seals fresh events: they get consecutive positions, and a checkpoint. From
//! then on nothing about them changes, except that deleting an account takes the person away.

use countersign_domain::checkpoint::{SealedEvent, SignedCheckpoint};
use countersign_domain::event::{Event, EventKind, EventPerson};
use countersign_domain::id::{ClientId, EventId};
use countersign_domain::subject::Subject;
use time::{Duration, OffsetDateTime};

use crate::DayCount;

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
    pub who: Option<Subject<EventPerson>>,
    /// Events about this client.
    pub client: Option<ClientId>,
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

/// What is stored at a position, for verification.
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

/// A row among the fresh events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FreshAt {
    /// An event that can be sealed.
    Event(Box<Event>),
    /// A row that cannot be sealed.
    Unsealable(UnsealableEvent),
}

/// A row among the fresh events that cannot be sealed: it cannot be an event, or an event with its id is sealed
/// already. None of our operations writes such a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsealableEvent {
    /// Its id, if it has one.
    pub id: Option<EventId>,
    /// What is wrong with it.
    pub problem: String,
}

/// The time around now, in which events are written that no round of sealing has seen yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recent {
    since: OffsetDateTime,
    until: OffsetDateTime,
}

impl Recent {
    /// So long before this time and after it, for clocks that differ.
    pub fn around(now: OffsetDateTime, within: Duration) -> Self {
        Self { since: now.saturating_sub(within), until: now.saturating_add(within) }
    }

    /// The lowest id of an event of this time.
    pub fn first(&self) -> EventId {
        EventId::at(self.since, [u8::MIN; 10])
    }

    /// The highest id of an event of this time.
    pub fn last(&self) -> EventId {
        EventId::at(self.until, [u8::MAX; 10])
    }
}

/// What is stored under the number of a checkpoint, for verification.
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
