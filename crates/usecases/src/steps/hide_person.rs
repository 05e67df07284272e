//! A user who deleted their account has a pseudonym in the record from then on. The server proves that it was
//! the one who took the person out.

use countersign_domain::checkpoint::{HidingKey, RecordKey};
use countersign_domain::event::{Event, Pseudonym};
use countersign_ports::{DirectStorage, Entropy, EntropyExt, ForgetEventsOf};

/// Takes a deleted user out of the rest of their events, a few at a time, so that others have their turn. If it cannot, upkeep goes on with it: the
/// account is deleted, and the storage knows whose events are left.
pub async fn hide_the_rest(storage: &dyn DirectStorage, command: ForgetEventsOf) {
    loop {
        match storage.forget_events_of(command.clone()).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "the events of a deleted account get their pseudonym later");
                return;
            }
        }
    }
}

/// A new pseudonym, its key, and the event of the deletion with its proof.
pub fn hide_person(
    entropy: &dyn Entropy,
    key: &RecordKey,
    event: Option<Box<Event>>,
) -> (Pseudonym, HidingKey, Option<Box<Event>>) {
    let pseudonym = Pseudonym::new(entropy.bytes());
    let hiding = key.hiding(pseudonym);
    let event = event.map(|event| {
        let details = event.details.clone().text("proof", hiding.proof(event.id));
        Box::new(Event { details, ..*event })
    });
    (pseudonym, hiding, event)
}
