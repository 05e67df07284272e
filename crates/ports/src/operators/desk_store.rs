//! The desk: changes that wait for a second operator, what happened on which day and in which hour, and which replicas there are.

use std::net::IpAddr;

use countersign_domain::desk::proposal::{Proposal, ProposalState};
use countersign_domain::event::{ChangeSignature, Event, EventKind};
use countersign_domain::figure::Figure;
use countersign_domain::hour::Hour;
use countersign_domain::id::{GrantId, UserId};
use time::{Date, OffsetDateTime};

/// Stores a change that waits for a second operator.
#[derive(Clone, Debug)]
pub struct PutProposal {
    /// The proposal, with its id.
    pub proposal: Proposal,
    /// What to record if it is stored.
    pub event: Option<Box<Event>>,
}

/// A second operator takes a proposal to carry it out.
#[derive(Clone, Debug)]
pub struct TakeProposal {
    /// The proposal.
    pub id: GrantId,
    /// When.
    pub now: OffsetDateTime,
    /// The second operator.
    pub user: UserId,
    /// What they signed.
    pub signed: ChangeSignature,
}

/// Ends a proposal.
#[derive(Clone, Debug)]
pub struct EndProposal {
    /// The proposal.
    pub id: GrantId,
    /// When.
    pub now: OffsetDateTime,
    /// Only if it is in this state now ([`Proposal::state_at`]).
    pub from: ProposalState,
    /// How it ended.
    pub to: ProposalState,
    /// Only if this was signed second, so that no server ends what another one took meanwhile.
    pub signed: Option<ChangeSignature>,
    /// What to record if it ends.
    pub event: Option<Box<Event>>,
}

/// A page of proposals, the newest first: in the order of their ids, which begin with their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProposalPage {
    /// After this one in that order. It need not exist.
    pub after: Option<GrantId>,
    /// The most proposals to read.
    pub limit: u32,
}

/// What is stored as a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalAt {
    /// A proposal.
    Proposal(Box<Proposal>),
    /// A row that cannot be a proposal. Those beside it can still be read (F-25).
    Unreadable {
        /// Its id, if that can be one.
        id: Option<GrantId>,
        /// What is wrong with it.
        problem: String,
    },
}

impl ProposalAt {
    /// Its id, if it has one.
    pub fn id(&self) -> Option<GrantId> {
        match self {
            Self::Proposal(proposal) => Some(proposal.id),
            Self::Unreadable { id, .. } => *id,
        }
    }

    /// The proposal, if it is one.
    pub fn readable(self) -> Option<Proposal> {
        match self {
            Self::Proposal(proposal) => Some(*proposal),
            Self::Unreadable { .. } => None,
        }
    }
}

/// How often something happened on a day (UTC).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayCount {
    /// The day.
    pub day: Date,
    /// What happened.
    pub kind: EventKind,
    /// The family of the wallet, if the event names one; otherwise the empty text.
    pub family: String,
    /// How often.
    pub count: u64,
}

/// Who has access through a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCount {
    /// How many people gave it access.
    pub people: u32,
    /// How many of its grants are valid.
    pub grants: u32,
}

/// How often something was counted in an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HourCount {
    /// The hour.
    pub hour: Hour,
    /// What was counted.
    pub figure: Figure,
    /// Which part of it, from the fixed set of the figure's labels.
    pub label: String,
    /// How often.
    pub count: u64,
}

/// Adds what a replica counted since its last batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddHourCounts {
    /// The replica.
    pub replica: [u8; 16],
    /// The number of the batch, from 1. A new batch of the same replica has a higher number.
    pub batch: u64,
    /// What is added to the counts that are there.
    pub counts: Vec<HourCount>,
}

/// A replica that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// Its random id, which it makes when it starts.
    pub id: [u8; 16],
    /// Its version.
    pub version: String,
    /// When it started.
    pub started_at: OffsetDateTime,
    /// When it was last seen.
    pub seen_at: OffsetDateTime,
    /// The settings that replicas must agree on, as the application wrote them; empty if its release wrote none.
    pub settings: String,
    /// A peer in its own network that forwards for others without being trusted to, if it saw one.
    pub untrusted_proxy: Option<IpAddr>,
}
