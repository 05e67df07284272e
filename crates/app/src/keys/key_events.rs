//! The events of signing keys. What happens to a key is recorded with it; that it begins to sign is not a
//! change of the database, so the servers record that by themselves.

use std::sync::Arc;

use countersign_adapters_crypto::KeyEvents;
use countersign_domain::event::{Details, Event, EventKind};
use countersign_domain::id::EventId;
use countersign_domain::signing_key::SealedKey;
use countersign_ports::{Clock, Entropy};
use countersign_usecases::context::cause::{Cause, EventPolicy};

/// Makes the events of signing keys.
#[derive(Clone)]
pub(crate) struct EventsOfKeys {
    pub(crate) policy: EventPolicy,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    /// Who rotates and withdraws.
    pub(crate) cause: Cause,
}

impl EventsOfKeys {
    /// The same for another cause.
    pub(crate) fn because_of(&self, cause: &Cause) -> Self {
        Self { cause: cause.clone(), ..self.clone() }
    }

    /// A key is withdrawn by the operator.
    pub(crate) fn withdrawn(&self, key: &SealedKey) -> Option<Box<Event>> {
        self.event(EventKind::KeyWithdrawn, |event| event.details = details(key))
    }

    /// A key began to sign. `None` if that was before the time for which events are kept.
    pub(crate) fn activated(&self, key: &SealedKey) -> Option<Box<Event>> {
        let is_kept = |retention| self.clock.now() - key.active_from < retention;
        self.policy.retention.filter(|retention| is_kept(*retention))?;
        self.event(EventKind::KeyActivated, |event| {
            event.id = EventId::derived(key.active_from, &key.kid);
            event.details = details(key);
        })
    }

    fn event(&self, kind: EventKind, rest: impl FnOnce(&mut Event)) -> Option<Box<Event>> {
        self.policy.event(&*self.entropy, self.clock.now(), &self.cause, kind, rest)
    }
}

impl KeyEvents for EventsOfKeys {
    fn announced(&self, key: &SealedKey) -> Option<Box<Event>> {
        self.event(EventKind::KeyAnnounced, |event| event.details = details(key))
    }

    fn deleted(&self, key: &SealedKey) -> Option<Box<Event>> {
        self.event(EventKind::KeyRetired, |event| event.details = details(key))
    }
}

fn details(key: &SealedKey) -> Details {
    Details::default().text("key", &key.kid).text("algorithm", &key.algorithm)
}
