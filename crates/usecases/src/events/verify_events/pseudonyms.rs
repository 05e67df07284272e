//! Nobody is hidden behind the pseudonym of somebody else: there is an event of the deletion, which says how many
//! events got the pseudonym.

use countersign_domain::checkpoint::SealedEvent;
use countersign_domain::event::{Event, EventKind, EventPerson, Pseudonym};
use countersign_ports::{EventFilter, EventOrder, EventPage, EventStore, EventSubject, StoreError};
use serde::Deserialize;

use super::Finding;

/// How many of the pseudonyms that were judged are remembered.
const REMEMBERED: usize = 10_000;

/// The pseudonyms that were judged lately.
#[derive(Debug, Default)]
pub(super) struct Pseudonyms {
    good: std::collections::HashSet<Pseudonym>,
}

impl Pseudonyms {
    /// Judges the pseudonym of an event, if it has one.
    pub(super) async fn judge(
        &mut self,
        storage: &(impl EventStore + ?Sized),
        sealed: &SealedEvent,
    ) -> Result<Result<(), Finding>, StoreError> {
        let Some(EventPerson::Deleted(pseudonym)) = sealed.event.person else { return Ok(Ok(())) };
        if self.good.contains(&pseudonym) {
            return Ok(Ok(()));
        }
        let Some(deletion) = find_deletion(storage, pseudonym).await? else {
            return Ok(Err(Finding::NobodyDeleted { pseudonym }));
        };
        if storage.count_events_of(pseudonym).await? > told_by(&deletion) {
            return Ok(Err(Finding::HiddenBehind { pseudonym }));
        }
        if self.good.len() == REMEMBERED {
            self.good.clear();
        }
        self.good.insert(pseudonym);
        Ok(Ok(()))
    }
}

async fn find_deletion(
    storage: &(impl EventStore + ?Sized),
    pseudonym: Pseudonym,
) -> Result<Option<Event>, StoreError> {
    let filter = EventFilter {
        kinds: vec![EventKind::AccountDeleted],
        who: Some(EventSubject::Deleted(pseudonym)),
        ..EventFilter::default()
    };
    let page = EventPage { order: EventOrder::NewestFirst, after: None, limit: 1 };
    Ok(storage.list_events(&filter, page).await?.pop())
}

/// How many events got the pseudonym.
fn told_by(deletion: &Event) -> u64 {
    #[derive(Deserialize)]
    struct Told {
        events: u64,
    }
    serde_json::from_str(deletion.details.as_str()).map_or(0, |Told { events }| events)
}
