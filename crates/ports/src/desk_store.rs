//! The desk: changes that wait for a second operator, what happened on which day, and which replicas there are.

use std::net::IpAddr;

use async_trait::async_trait;
use countersign_domain::desk::proposal::{Proposal, ProposalState};
use countersign_domain::event::{ChangeSignature, Event, EventKind};
use countersign_domain::id::{GrantId, UserId};
use time::{Date, OffsetDateTime};

use crate::StoreError;

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
    /// Only if this was signed second, so that nobody ends what somebody else took meanwhile.
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

/// What the desk needs besides what there is. Every write is durable before the answer.
#[async_trait]
pub trait DeskStore: Send + Sync {
    /// Stores a proposal. Guard: no other one has its id. The answer says whether it is stored now, and its event
    /// with it. A repeat of the same command (same id, same user, same signature) stores nothing and gives true,
    /// whatever became of the proposal meanwhile.
    async fn put_proposal(&self, command: PutProposal) -> Result<bool, StoreError>;

    /// Finds a proposal, in whatever state.
    async fn find_proposal(&self, id: GrantId) -> Result<Option<Proposal>, StoreError>;

    /// Reads a page of proposals, in whatever state. It takes no longer among many.
    async fn list_proposals(&self, page: ProposalPage) -> Result<Vec<Proposal>, StoreError>;

    /// Takes a proposal. Guards: it waits, expires after `now`, and is another user's; one that was taken and not
    /// carried out in time ([`Proposal::state_at`]) waits again. Of two who take it, one gets true. A repeat of the same
    /// command (same user, same signature) gives true again for as long as nobody ended what was taken, or took it
    /// after this.
    ///
    /// From then on every operation whose event has this signature as its second
    /// ([`Signed::second`](countersign_domain::event::Signed::second)) has one more guard: the proposal is taken by this
    /// signature, or was carried out by it. Its commit makes the proposal done. Otherwise it fails, and nothing of it
    /// happened. So what waits again is carried out once, even if the server that seemed to be killed goes on.
    async fn take_proposal(&self, command: TakeProposal) -> Result<bool, StoreError>;

    /// Moves a proposal from one state to another, with the event. Guards: it is in the first, and was signed second
    /// as the command says. A repeat finds it in the second, stores no event, and gives true again.
    async fn end_proposal(&self, command: EndProposal) -> Result<bool, StoreError>;

    /// Forgets up to `limit` proposals that expired before this time, those first that expired first. What became
    /// of them is no matter: no proposal outlives that time by much, and none is forgotten while its text could
    /// still be signed. The answer says how many.
    async fn forget_proposals(&self, before: OffsetDateTime, limit: u32) -> Result<u64, StoreError>;

    /// Reads up to `limit` events, fresh and sealed, that were recorded for this request, oldest first. It takes no
    /// longer among many.
    async fn events_of_request(&self, request: &str, limit: u32) -> Result<Vec<Event>, StoreError>;

    /// How often what happened, from this day on, in the order of day, kind and family, in byte order. It is added
    /// up when events are sealed ([`SealEvents`](crate::SealEvents)), in the seal's commit, and stays when events
    /// are forgotten.
    async fn day_counts(&self, since: Date) -> Result<Vec<DayCount>, StoreError>;

    /// Counts sessions that expire after `now`, and stops at `at_most`.
    async fn count_sessions(&self, now: OffsetDateTime, at_most: u32) -> Result<u32, StoreError>;

    /// Writes down that a replica runs, and forgets those last seen before `forget_before`. Of two notes about one
    /// replica, the later one stays.
    async fn note_replica(&self, replica: Replica, forget_before: OffsetDateTime) -> Result<(), StoreError>;

    /// Forgets a replica, which stops. It is done if it was not known.
    async fn forget_replica(&self, id: [u8; 16]) -> Result<(), StoreError>;

    /// The replicas that were seen since this time, the longest running first, then by id.
    async fn replicas(&self, since: OffsetDateTime) -> Result<Vec<Replica>, StoreError>;
}
