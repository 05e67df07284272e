//! Who does something, and from where: what an event tells beside what happened.

use countersign_domain::event::Details;
use countersign_domain::event::{Actor, Event, EventKind};
use countersign_domain::id::EventId;
use countersign_domain::peer_address::PeerAddress;
use countersign_ports::{Entropy, EntropyExt};
use time::{Duration, OffsetDateTime};

/// Who does something, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Who does it.
    pub actor: Actor,
    /// Where the request came from: as much of the address as [`EventPolicy::whole_addresses`] says.
    pub address: Option<PeerAddress>,
    /// The id of the request, as in the log.
    pub request: Option<String>,
}

impl Cause {
    /// Something that nobody sent a request for.
    pub const fn of(actor: Actor) -> Self {
        Self { actor, address: None, request: None }
    }
}

/// What the server does by itself.
pub static SERVER: Cause = Cause::of(Actor::Server);

/// What the operator decided about events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPolicy {
    /// How long events are kept; `None` if there are none.
    pub retention: Option<Duration>,
    /// Do they tell whole addresses, or only networks?
    pub whole_addresses: bool,
}

impl EventPolicy {
    /// Makes the event that a command carries, with what the cause tells, and lets the caller say the rest.
    /// `None` if no events are kept; then nothing is made.
    pub fn event(
        &self,
        entropy: &dyn Entropy,
        now: OffsetDateTime,
        cause: &Cause,
        kind: EventKind,
        rest: impl FnOnce(&mut Event),
    ) -> Option<Box<Event>> {
        self.retention?;
        let mut event = Box::new(Event {
            id: EventId::at(now, entropy.bytes()),
            kind,
            actor: cause.actor.clone(),
            person: None,
            wallet: None,
            client: None,
            address: cause.address,
            request: cause.request.clone(),
            details: Details::default(),
        });
        rest(&mut event);
        Some(event)
    }
}
