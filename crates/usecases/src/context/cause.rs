//! What is kept of what happened, and how the event of an act is made.

pub use countersign_domain::event::{Cause, SERVER};
use countersign_domain::event::{Details, Event, EventKind};
use countersign_domain::id::EventId;
use countersign_ports::{Entropy, EntropyExt};
use time::{Duration, OffsetDateTime};

/// What the operator decided about events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPolicy {
    /// How long events are kept; `None` if there are none.
    pub retention: Option<Duration>,
    /// Do they tell whole addresses, or only networks?
    pub whole_addresses: bool,
}

impl EventPolicy {
    /// Makes the event that a command carries, with what the cause knows, and lets the caller add the rest.
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
            signed: cause.signed.as_deref().cloned(),
        });
        rest(&mut event);
        Some(event)
    }
}
