//! `/admin/events`: what happened, and what operators signed to have it done.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use countersign_domain::act::ActName;
use countersign_domain::event::{Event, EventKind, EventPerson, SIGNED_IN};
use countersign_domain::id::{ClientId, EventId, GrantId};
use countersign_domain::wallet::AccountKind;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::events::list_events::{EventsListed, find_subject, list_events};
use countersign_operators::people::find_who::FindWhoError;
use countersign_ports::{EventFilter, EventOrder, EventPage};
use countersign_usecases::events::event_view::EventView;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::admit::Visit;
use super::happened::Happened;
use super::names::{NameOf, UserView};
use super::query::{Pager, Query, wrong_row};
use super::show::{About, Here, Notice};
use super::view::{WalletView, unavailable};

#[derive(Serialize)]
struct Events<'a> {
    kept: bool,
    events: Vec<EventRow>,
    filter: Filter<'a>,
    kinds: Vec<&'static str>,
    pager: Pager,
}

#[derive(Serialize)]
struct Filter<'a> {
    day: Option<&'a str>,
    since: Option<&'a str>,
    until: Option<&'a str>,
    r#type: Option<&'a str>,
    user: Option<&'a str>,
    kind: Option<&'a str>,
    client: Option<&'a str>,
    request: Option<&'a str>,
}

/// An event in a list.
#[derive(Serialize)]
pub(super) struct EventRow {
    id: String,
    at: Moment,
    kind: &'static str,
    happened: Happened,
    is_signed: bool,
}

#[derive(Serialize)]
struct EventPageView {
    event: EventRow,
    actor: String,
    /// What operators call the one who acted.
    by: NameOf,
    user: Option<UserView>,
    /// The pseudonym of a user whose account was deleted.
    deleted: Option<String>,
    wallet: Option<WalletView>,
    client: Option<ClientView>,
    address: Option<String>,
    request: Option<String>,
    position: Option<u64>,
    details: Vec<Detail>,
    signatures: Vec<SignatureView>,
    /// Was something signed that cannot be read?
    unreadable: bool,
}

#[derive(Serialize)]
struct ClientView {
    id: String,
    name: String,
}

#[derive(Serialize)]
struct Detail {
    name: String,
    value: String,
    /// Does it name another event?
    is_event: bool,
}

/// Among how many proposals that ended one is looked for.
const MOST_ENDED: u32 = 500;

/// A signature, and the text that it signs.
#[derive(Serialize)]
pub(super) struct SignatureView {
    pub(super) by: String,
    /// What operators call it.
    pub(super) name: NameOf,
    pub(super) text: String,
    pub(super) signature: String,
}

/// What [`Signed`](countersign_domain::event::Signed) writes.
#[derive(Deserialize)]
struct SignedText {
    signatures: Vec<OneSignature>,
}

#[derive(Deserialize)]
struct OneSignature {
    wallet: String,
    text: String,
    signature: String,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let known = &["day", "since", "until", "type", "user", "kind", "client", "request", "limit", "after"];
    let query = Query::of(&visit.request, known);
    let after = query.after().map(|after| EventId::parse(after).ok_or_else(wrong_row)).transpose()?;
    let page = EventPage { order: EventOrder::NewestFirst, after, limit: query.limit()? };
    let (listed, refused) = match filter_of(&visit, &query).await? {
        Ok(_) if query.text("request").is_some() => (of_request(&visit, &query, after).await?, None),
        Ok(filter) => {
            let listed = list_events(visit.management(), &filter, page).await;
            (listed.map_err(unavailable)?, None)
        }
        Err(why) => (EventsListed { events: Vec::new(), more: false }, Some(why)),
    };
    let next = listed.events.last().filter(|_| listed.more).map(|last| last.id.to_string());
    let clients = clients_in(&visit, &listed.events).await?;
    let text = |name| query.text(name);
    let shown = Events {
        kept: visit.state.context.policy.events.retention.is_some(),
        events: listed.events.iter().map(|event| EventRow::of(event, &clients)).collect(),
        filter: Filter {
            day: text("day"),
            since: text("since"),
            until: text("until"),
            r#type: text("type"),
            user: text("user"),
            kind: text("kind"),
            client: text("client"),
            request: text("request"),
        },
        kinds: EventKind::ALL.iter().map(|kind| kind.name()).collect(),
        pager: query.pager(next),
    };
    let status = if refused.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let notice = refused.map(|why| Notice::because("filter", why));
    visit.show(DeskPage::Events, Here::Events, About { notice, ..About::default() }, status, &shown).await
}

pub(super) async fn show(visit: Visit, id: Path<String>) -> Result<HttpResponse, ApiError> {
    let id = EventId::parse(&id).ok_or_else(ApiError::not_found)?;
    let found = visit.management().storage.find_event(id).await.map_err(unavailable)?;
    let found = found.ok_or_else(ApiError::not_found)?;
    let view = EventView::of(&found.event);
    let clients = clients_in(&visit, std::slice::from_ref(&found.event)).await?;
    let client = |id: ClientId| ClientView {
        id: id.to_string(),
        name: clients.get(&id).cloned().unwrap_or_else(|| id.to_string()),
    };
    let (user, deleted) = match &found.event.person {
        Some(EventPerson::User(user)) => (Some(UserView::of(*user)), None),
        Some(person @ EventPerson::Deleted(_)) => (None, Some(person.to_string())),
        None => (None, None),
    };
    let wallets = &*visit.state.context.wallets;
    let signed = found.event.signed.as_ref().map(|signed| signatures(signed.as_str()));
    let page = EventPageView {
        event: EventRow::of(&found.event, &clients),
        actor: found.event.actor.to_string(),
        by: NameOf::actor(&found.event.actor),
        user,
        deleted,
        wallet: found.event.wallet.as_ref().map(|account| WalletView::of(wallets, account)),
        client: found.event.client.map(client),
        address: view.address,
        request: view.request,
        position: found.position,
        details: details(&view.details),
        unreadable: signed.as_ref().is_some_and(Option::is_none),
        signatures: signed.flatten().unwrap_or_default(),
    };
    visit.page(DeskPage::Event, Here::Events, &page).await
}

/// The names of the clients that these events are about, as far as they are there.
async fn clients_in(visit: &Visit, events: &[Event]) -> Result<BTreeMap<ClientId, String>, ApiError> {
    let ids: BTreeSet<ClientId> = events.iter().filter_map(|event| event.client).collect();
    let mut clients = BTreeMap::new();
    for id in ids {
        let found = visit.management().clients.find(id).await.map_err(unavailable)?;
        clients.extend(found.map(|client| (id, client.shown_name().into_owned())));
    }
    Ok(clients)
}

/// What an act did in a request, as sentences: what it is for, and then what followed from it.
pub(super) async fn happened(
    visit: &Visit,
    request: &str,
    act: ActName,
    at_most: u32,
) -> Result<Vec<Happened>, ApiError> {
    let events = visit.management().storage.events_of_request(request, None, at_most).await;
    let mut events = events.map_err(unavailable)?;
    events.sort_by_key(|event| !act.row().events.contains(&event.kind));
    let clients = clients_in(visit, &events).await?;
    Ok(events.iter().map(|event| Happened::of(event, &clients)).collect())
}

/// The events of one request, oldest first. There are few, unless many requests came with one id.
async fn of_request(visit: &Visit, query: &Query, after: Option<EventId>) -> Result<EventsListed, ApiError> {
    let (storage, limit) = (visit.management().storage, query.limit()?);
    let request = query.text("request").unwrap_or_default();
    // One more than is shown, to know whether there are more.
    let events = storage.events_of_request(request, after, limit.saturating_add(1)).await;
    let mut events = events.map_err(unavailable)?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = events.len() > most;
    events.truncate(most);
    Ok(EventsListed { events, more })
}

/// What the query asks for, or why that cannot be.
async fn filter_of(visit: &Visit, query: &Query) -> Result<Result<EventFilter, String>, ApiError> {
    let mut filter = EventFilter::default();
    if let Some(text) = query.text("day") {
        match OffsetDateTime::parse(&format!("{text}T00:00:00Z"), &Rfc3339) {
            Ok(day) => (filter.since, filter.until) = (Some(day), Some(day.saturating_add(Duration::DAY))),
            Err(_) => return Ok(Err("day takes a day, such as 2026-11-23".to_owned())),
        }
    }
    for (name, time) in [("since", &mut filter.since), ("until", &mut filter.until)] {
        let Some(text) = query.text(name) else { continue };
        // A form names a day, a program a time.
        let read = OffsetDateTime::parse(text, &Rfc3339)
            .or_else(|_| OffsetDateTime::parse(&format!("{text}T00:00:00Z"), &Rfc3339));
        match read {
            Ok(read) => *time = Some(read),
            Err(_) => return Ok(Err(format!("{name} takes a day or a time, such as 2026-11-23"))),
        }
    }
    for name in query.text("type").into_iter().flat_map(|names| names.split(',')) {
        match EventKind::parse(name) {
            Ok(kind) => filter.kinds.push(kind),
            Err(unknown) => return Ok(Err(unknown.to_string())),
        }
    }
    if let Some(client) = query.text("client") {
        match ClientId::parse(client) {
            Some(client) => filter.client = Some(client),
            None => return Ok(Err("client takes the id of a client".to_owned())),
        }
    }
    if let Some(who) = query.text("user") {
        let kind = query.text("kind").and_then(AccountKind::parse);
        match find_subject(visit.management(), who, kind).await {
            Ok(who) => filter.who = Some(who),
            Err(FindWhoError::Store(error)) => return Err(unavailable(error)),
            Err(
                error @ (FindWhoError::Unrecognized(_)
                | FindWhoError::SeveralKnown(_)
                | FindWhoError::ContractNowhere),
            ) => return Ok(Err(error.to_string())),
        }
    }
    Ok(Ok(filter))
}

/// What the operator signed who refused this proposal; `None` if the event is gone.
pub(super) async fn refusal_of(
    visit: &Visit,
    proposal: GrantId,
    since: OffsetDateTime,
) -> Result<Option<SignatureView>, ApiError> {
    let kinds = vec![EventKind::ChangeWithdrawn];
    let filter = EventFilter { since: Some(since), kinds, ..EventFilter::default() };
    // A proposal waits for a day, so its end is among the first that follow.
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: MOST_ENDED };
    let listed = list_events(visit.management(), &filter, page).await.map_err(unavailable)?;
    let id = proposal.to_string();
    let event = listed.events.into_iter().find(|event| event.details.as_str().contains(&id));
    let signed = event.and_then(|event| signatures(event.signed?.as_str()));
    Ok(signed.and_then(|signed| signed.into_iter().next()))
}

/// The signatures of an event; `None` if they cannot be read.
fn signatures(signed: &str) -> Option<Vec<SignatureView>> {
    let read: SignedText = serde_json::from_str(signed).ok()?;
    let one = |one: OneSignature| SignatureView {
        name: NameOf::signer(&one.wallet),
        by: one.wallet,
        text: one.text,
        signature: one.signature,
    };
    Some(read.signatures.into_iter().map(one).collect())
}

fn details(details: &Value) -> Vec<Detail> {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    };
    match details {
        Value::Object(members) => {
            let detail = |(name, value): (&String, &Value)| {
                let is_event = name == SIGNED_IN;
                Detail { name: name.clone(), value: shown(value), is_event }
            };
            members.iter().map(detail).collect()
        }
        // A text that the server did not write.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            vec![Detail { name: "unreadable".to_owned(), value: shown(details), is_event: false }]
        }
    }
}

impl EventRow {
    pub(super) fn of(event: &Event, clients: &BTreeMap<ClientId, String>) -> Self {
        Self {
            id: event.id.to_string(),
            at: Moment::exact(event.id.at_time()),
            kind: event.kind.name(),
            happened: Happened::of(event, clients),
            is_signed: event.signed.is_some(),
        }
    }
}
