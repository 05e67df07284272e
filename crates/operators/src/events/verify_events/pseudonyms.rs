//! Only deleted accounts are hidden behind a pseudonym.
//!
//! The server leaves a proof in each sealed event from which it takes the person, and one in the event of the
//! deletion. With the secret they are checked. Accounts that were deleted before there were proofs, and
//! verification without the secret, have only the count in the deletion's event.

use countersign_domain::checkpoint::{RecordKey, SealedEvent};
use countersign_domain::event::{Event, EventKind, EventPerson, Pseudonym};
use countersign_domain::subject::Subject;
use countersign_ports::{EventFilter, EventOrder, EventPage, EventStore, StoreError};
use serde::Deserialize;

use super::Finding;

/// How many of the pseudonyms that were judged are remembered.
const REMEMBERED: usize = 10_000;
/// How many events of deletions are looked at for one pseudonym. There is one, and possibly forged ones.
const DELETIONS: u32 = 20;

/// The pseudonyms that were judged lately.
#[derive(Debug)]
pub(super) struct Pseudonyms<'a> {
    key: Option<&'a RecordKey>,
    /// From this position on, deletions have proofs.
    proven_from: u64,
    deleted: std::collections::HashSet<Pseudonym>,
    /// The position of a deletion without a proof, whose events are as many as it says.
    counted: std::collections::HashMap<Pseudonym, Option<u64>>,
}

impl<'a> Pseudonyms<'a> {
    pub(super) fn new(key: Option<&'a RecordKey>, proven_from: u64) -> Self {
        Self {
            key,
            proven_from,
            deleted: std::collections::HashSet::new(),
            counted: std::collections::HashMap::new(),
        }
    }

    /// Judges the pseudonym of an event, if it has one.
    pub(super) async fn judge(
        &mut self,
        storage: &(impl EventStore + ?Sized),
        sealed: &SealedEvent,
    ) -> Result<Result<(), Finding>, StoreError> {
        let Some(EventPerson::Deleted(pseudonym)) = sealed.event.person else {
            let is_left_over = sealed.hiding_proof.is_some();
            return Ok(if is_left_over { Err(altered(sealed)) } else { Ok(()) });
        };
        if let (Some(key), Some(proof)) = (self.key, sealed.hiding_proof) {
            let is_proven = sealed.salt.is_none() && key.hiding(pseudonym).proof(sealed.event.id) == proof;
            return Ok(if is_proven { Ok(()) } else { Err(Finding::HiddenBehind { pseudonym }) });
        }
        let is_sealed_so = sealed.salt.is_some();
        if is_sealed_so && sealed.hiding_proof.is_some() {
            return Ok(Err(altered(sealed)));
        }
        if self.key.is_some() && is_sealed_so {
            return self.judge_deleted(storage, pseudonym).await;
        }
        self.judge_count(storage, sealed.position, pseudonym).await
    }

    /// Is the event of this deletion proven? An event of another kind has nothing to prove. `None` if it
    /// cannot be known here.
    pub(super) fn is_proven(&self, sealed: &SealedEvent) -> Option<bool> {
        #[derive(Deserialize)]
        struct Deletion {
            proof: String,
        }
        let Event { id, kind, person, details, .. } = &sealed.event;
        if *kind != EventKind::AccountDeleted || sealed.position < self.proven_from {
            return Some(true);
        }
        let key = self.key?;
        let Some(EventPerson::Deleted(pseudonym)) = person else { return Some(false) };
        let proven: Result<Deletion, _> = serde_json::from_str(details.as_str());
        Some(proven.is_ok_and(|proven| proven.proof == key.hiding(*pseudonym).proof(*id).to_string()))
    }

    /// The event was sealed with the pseudonym, so there must be a deletion.
    async fn judge_deleted(
        &mut self,
        storage: &(impl EventStore + ?Sized),
        pseudonym: Pseudonym,
    ) -> Result<Result<(), Finding>, StoreError> {
        if self.deleted.contains(&pseudonym) {
            return Ok(Ok(()));
        }
        if deletions(storage, pseudonym).await?.is_empty() {
            return Ok(Err(Finding::NobodyDeleted { pseudonym }));
        }
        if self.deleted.len() == REMEMBERED {
            self.deleted.clear();
        }
        self.deleted.insert(pseudonym);
        Ok(Ok(()))
    }

    /// There is no proof that can be checked, so the deletion must tell of this event: it comes later, and counts it.
    async fn judge_count(
        &mut self,
        storage: &(impl EventStore + ?Sized),
        position: u64,
        pseudonym: Pseudonym,
    ) -> Result<Result<(), Finding>, StoreError> {
        let hidden = Finding::HiddenBehind { pseudonym };
        let deletion = match self.counted.get(&pseudonym) {
            Some(deletion) => *deletion,
            None => {
                let found = deletions(storage, pseudonym).await?;
                if found.is_empty() {
                    return Ok(Err(Finding::NobodyDeleted { pseudonym }));
                }
                let mut proven = None;
                for event in found {
                    let at = storage.find_event(event.id).await?.and_then(|found| found.position);
                    let is_early = at.is_some_and(|at| at < self.proven_from);
                    if self.key.is_none() || is_early {
                        proven = Some((event, at));
                        break;
                    }
                }
                let Some((event, at)) = proven else { return Ok(Err(hidden)) };
                if storage.count_events_of(pseudonym).await? > told_by(&event) {
                    return Ok(Err(hidden));
                }
                if self.counted.len() == REMEMBERED {
                    self.counted.clear();
                }
                self.counted.insert(pseudonym, at);
                at
            }
        };
        Ok(if deletion.is_none_or(|at| position <= at) { Ok(()) } else { Err(hidden) })
    }
}

fn altered(sealed: &SealedEvent) -> Finding {
    Finding::PersonAltered { event: sealed.event.id }
}

/// The events that tell of the deletion of this account, the oldest first.
async fn deletions(
    storage: &(impl EventStore + ?Sized),
    pseudonym: Pseudonym,
) -> Result<Vec<Event>, StoreError> {
    let filter = EventFilter {
        kinds: vec![EventKind::AccountDeleted],
        who: Some(Subject::User(EventPerson::Deleted(pseudonym))),
        ..EventFilter::default()
    };
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: DELETIONS };
    storage.list_events(&filter, page).await
}

/// How many events got the pseudonym.
fn told_by(deletion: &Event) -> u64 {
    #[derive(Deserialize)]
    struct Deletion {
        events: u64,
    }
    serde_json::from_str(deletion.details.as_str()).map_or(0, |Deletion { events }| events)
}
