//! The host that the server has is part of the record, because what operators sign names it.
//!
//! An event says so before the first change that is signed for a host, when a server starts with another one, and again
//! before that event's time is over. It names the host before, so the record knows for each time which host the server
//! had, however old the kept events are. It has a proof that only the secret can make: anyone who has only the database
//! can store events before they are sealed, and could otherwise add a host of their own.

use countersign_domain::checkpoint::{Digest256, RecordKey};
use countersign_domain::event::{Details, Event, EventKind};
use countersign_domain::id::EventId;
use countersign_ports::{EventFilter, EventOrder, EventPage, StoreError};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::Context;
use crate::context::cause::SERVER;

/// How many events are read at a time, to find the newest that the server wrote.
const PAGE: u32 = 100;

/// What an event says of the server's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedHost {
    /// The event.
    pub event: EventId,
    /// The host, with its port if that is not the usual one.
    pub host: String,
    /// The host before, if the record knew one.
    pub before: Option<String>,
    proof: Digest256,
}

impl NotedHost {
    /// Reads an event. `None` if it says nothing of a host.
    pub fn of(event: &Event) -> Option<Self> {
        #[derive(Deserialize)]
        struct Noted {
            host: String,
            before: Option<String>,
            proof: String,
        }
        if event.kind != EventKind::HostNoted {
            return None;
        }
        let Noted { host, before, proof } = serde_json::from_str(event.details.as_str()).ok()?;
        Some(Self { event: event.id, host, before, proof: Digest256::parse(&proof)? })
    }

    /// Did the server write it?
    pub fn is_proven(&self, key: &RecordKey) -> bool {
        key.host_proof(self.event, &self.host, self.before.as_deref()) == self.proof
    }

    /// Since when the server has the host.
    pub fn since(&self) -> OffsetDateTime {
        self.event.at_time()
    }
}

/// Writes down which host this server has, unless the record says so. What operators sign may follow.
pub async fn note_host(context: &Context) -> Result<(), StoreError> {
    let newest = newest(context).await?;
    note_after(context, newest).await
}

/// Does the same if the record knows a host already: one that is new, or before what it knows is forgotten.
pub async fn keep_host_noted(context: &Context) -> Result<(), StoreError> {
    match newest(context).await? {
        Some(newest) => note_after(context, Some(newest)).await,
        None => Ok(()),
    }
}

async fn note_after(context: &Context, newest: Option<NotedHost>) -> Result<(), StoreError> {
    let Some(retention) = context.policy.events.retention else { return Ok(()) };
    let (host, now) = (context.policy.public_url.authority(), context.clock.now());
    if newest.as_ref().is_some_and(|newest| newest.host == host && now - newest.since() < retention / 2) {
        return Ok(());
    }
    let before = newest.map(|newest| newest.host);
    let events = &context.policy.events;
    let event = events.event(&*context.entropy, now, &SERVER, EventKind::HostNoted, |event| {
        let proof = context.keys.record.host_proof(event.id, host, before.as_deref());
        event.details =
            Details::default().text("host", host).maybe_text("before", before.as_ref()).text("proof", proof);
    });
    if let Some(event) = event {
        context.storage.record_event(*event).await?;
    }
    Ok(())
}

/// The newest host that the server wrote down.
async fn newest(context: &Context) -> Result<Option<NotedHost>, StoreError> {
    let filter = EventFilter { kinds: vec![EventKind::HostNoted], ..EventFilter::default() };
    let mut after = None;
    loop {
        let page = EventPage { order: EventOrder::NewestFirst, after, limit: PAGE };
        let events = context.storage.list_events(&filter, page).await?;
        let proven =
            |event: &Event| NotedHost::of(event).filter(|noted| noted.is_proven(&context.keys.record));
        if let Some(noted) = events.iter().find_map(proven) {
            return Ok(Some(noted));
        }
        match events.last() {
            Some(last) => after = Some(last.id),
            None => return Ok(None),
        }
    }
}
