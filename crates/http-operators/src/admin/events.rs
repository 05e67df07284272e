//! `/events`: what happened, and the checkpoints that seal it.

use std::collections::BTreeMap;

use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::challenge::iso8601;
use countersign_domain::checkpoint::SignedCheckpoint;
use countersign_domain::event::{Event, EventKind};
use countersign_domain::id::{ClientId, EventId};
use countersign_domain::number::whole;
use countersign_http_actix::openapi::formats;
use countersign_operators::events::list_events::{find_subject, list_events};
use countersign_ports::{CheckpointAt, EventFilter, EventOrder, EventPage};
use countersign_usecases::events::event_view::EventView;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::AdminState;
use super::operations::{Cursor, Operation, Parameter, operation};
use super::problem::Problem;
use super::read::Query;
use super::schemas::{self, Schema};
use super::who;

pub(super) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/events",
        ("listEvents", "event list"),
        (AdminArea::Events, AdminRight::Read),
        ("List what happened", "The newest first. The kinds and their details are in docs/events.md."),
        || web::get().to(list),
    )
    .asks(&[
        Parameter::Since,
        Parameter::Until,
        Parameter::Type,
        Parameter::User,
        Parameter::Kind,
        Parameter::Client,
        Parameter::Limit,
        Parameter::After(Cursor::Id),
    ])
    .answers(200, EVENT_LIST)
    .conflicts(),
    operation(
        "GET",
        "/events/checkpoints",
        ("listCheckpoints", "event checkpoints"),
        (AdminArea::Events, AdminRight::Read),
        (
            "List checkpoints",
            "To save them where they cannot be altered, for `countersign event verify --against`.",
        ),
        || web::get().to(checkpoints),
    )
    .asks(&[Parameter::Limit, Parameter::After(Cursor::Number)])
    .answers(200, CHECKPOINT_LIST)
    .conflicts(),
    operation(
        "GET",
        "/events/{event_id}",
        ("showEvent", "event show"),
        (AdminArea::Events, AdminRight::Read),
        ("Show an event", "And where it is sealed."),
        || web::get().to(show),
    )
    .answers(200, EVENT),
];

const EVENT: Schema = Schema::answer("Event", event);

const EVENT_LIST: Schema =
    Schema::answer("EventList", || schemas::page::<EventList>(Cursor::Id.schema(), event()));

const CHECKPOINT_LIST: Schema = Schema::answer("CheckpointList", || {
    schemas::page::<CheckpointList>(Cursor::Number.schema(), schemas::answer::<CheckpointBody>(&[]))
});

fn event() -> Value {
    schemas::answer::<EventBody>(&[("id", formats::id()), ("at", json!({"format": "date-time"}))])
}

/// Something that happened.
#[derive(Serialize, Apiv2Schema)]
struct EventBody {
    /// Its id.
    id: String,
    /// When it happened, to the millisecond.
    at: String,
    /// What happened.
    kind: String,
    /// Who did it, such as `person`, `cli:root@host` or `key:CI`.
    actor: String,
    /// The user, or `deleted:…` if the account was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The wallet, as CAIP-10.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet: Option<String>,
    /// The client.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    /// Where the request came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// The id of the request, as in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    /// What else is known, with fixed names for each kind.
    details: BTreeMap<String, Value>,
    /// What operators signed to have it done, if it was done at the desk: the id of the change and the signatures.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<BTreeMap<String, Value>>,
    /// Its position among the sealed events. Only of a single event that is sealed.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
}

/// A page of events, the newest first.
#[derive(Serialize, Apiv2Schema)]
struct EventList {
    /// The events.
    items: Vec<EventBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A seal over events, as `event verify --against` reads it.
#[derive(Serialize, Apiv2Schema)]
struct CheckpointBody {
    /// Its number. The first is 1.
    checkpoint: u64,
    /// When it was made.
    sealed_at: String,
    /// The position of its first event.
    first_position: u64,
    /// How many events it has.
    events: u32,
    /// The root of their Merkle tree.
    root: String,
    /// The hash of the checkpoint before it.
    previous: String,
    /// The number of the first checkpoint whose events are kept.
    kept_from: u64,
    /// Its own hash.
    hash: String,
    /// What was signed, with the signature, as a JSON Web Signature.
    signed: String,
}

/// A page of checkpoints, in the order of their numbers.
#[derive(Serialize, Apiv2Schema)]
struct CheckpointList {
    /// The checkpoints.
    items: Vec<CheckpointBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let known = ["since", "until", "type", "user", "kind", "client", "limit", "after"];
    let query = Query::of(&request, &known)?;
    let management = state.management();
    let account_kind = who::kind(query.text("kind"))?;
    let who = match query.text("user") {
        Some(text) => {
            let found = find_subject(management, text, account_kind).await;
            Some(found.map_err(|error| who::unclear(error).about("user"))?)
        }
        None => None,
    };
    let kinds = query.text("type").into_iter().flat_map(|names| names.split(','));
    let kinds = kinds
        .map(|name| EventKind::parse(name).map_err(|unknown| Problem::invalid("type", unknown.to_string())));
    let client = query.text("client").map(|id| {
        ClientId::parse(id).ok_or_else(|| Problem::invalid("client", "it is not the id of a client"))
    });
    let after = query.text("after").map(|after| {
        EventId::parse(after)
            .ok_or_else(|| Problem::invalid("after", "it is not what `next` of the list before said"))
    });
    let filter = EventFilter {
        since: time_of(&query, "since")?,
        until: time_of(&query, "until")?,
        kinds: kinds.collect::<Result<_, _>>()?,
        who,
        client: client.transpose()?,
    };
    let page = EventPage { order: EventOrder::NewestFirst, after: after.transpose()?, limit: query.limit()? };
    let listed = list_events(management, &filter, page).await?;
    let next = listed.events.last().filter(|_| listed.more).map(|last| last.id.to_string());
    let items = listed.events.iter().map(|event| EventBody::of(event, None)).collect();
    Ok(HttpResponse::Ok().json(EventList { items, next }))
}

async fn show(
    state: Data<AdminState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let unknown = || Problem::not_found("there is no such event").about("event_id");
    let id = EventId::parse(&id).ok_or_else(unknown)?;
    let found = state.management().storage.find_event(id).await?.ok_or_else(unknown)?;
    Ok(HttpResponse::Ok().json(EventBody::of(&found.event, found.position)))
}

async fn checkpoints(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["limit", "after"])?;
    let after = query.text("after").map(|after| {
        whole::<u64>(after)
            .filter(|after| i64::try_from(*after).is_ok())
            .ok_or_else(|| Problem::invalid("after", "it is not what `next` of the list before said"))
    });
    let (after, limit) = (after.transpose()?.unwrap_or_default(), query.limit()?);
    let mut page = state.management().storage.checkpoints(after, limit.saturating_add(1)).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = page.len() > most;
    page.truncate(most);
    let mut items = Vec::with_capacity(page.len());
    for at in page {
        match at {
            CheckpointAt::Checkpoint(signed) => items.push(CheckpointBody::of(&signed)),
            CheckpointAt::Unreadable { number, problem } => {
                let detail =
                    format!("checkpoint {number} cannot be read ({problem}): see `countersign event verify`");
                return Err(Problem::conflict(detail));
            }
        }
    }
    let next = items.last().filter(|_| more).map(|last| last.checkpoint.to_string());
    Ok(HttpResponse::Ok().json(CheckpointList { items, next }))
}

fn time_of(query: &Query, name: &str) -> Result<Option<OffsetDateTime>, Problem> {
    let time = query.text(name).map(|text| OffsetDateTime::parse(text, &Rfc3339)).transpose();
    time.map_err(|_| Problem::invalid(name, "it takes a time such as 2026-11-23T12:00:00Z"))
}

impl EventBody {
    fn of(event: &Event, position: Option<u64>) -> Self {
        let view = EventView::of(event);
        Self {
            id: view.id,
            at: view.at,
            kind: view.kind.to_owned(),
            actor: view.actor,
            user: view.user,
            wallet: view.wallet,
            client: view.client,
            address: view.address,
            request: view.request,
            details: object(view.details),
            signed: view.signed.map(object),
            position,
        }
    }
}

fn object(value: Value) -> BTreeMap<String, Value> {
    match value {
        Value::Object(fields) => fields.into_iter().collect(),
        // A text that the server did not write.
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            BTreeMap::from([("unreadable".to_owned(), other)])
        }
    }
}

impl CheckpointBody {
    fn of(signed: &SignedCheckpoint) -> Self {
        let checkpoint = &signed.checkpoint;
        Self {
            checkpoint: checkpoint.number,
            sealed_at: iso8601(checkpoint.sealed_at),
            first_position: checkpoint.first,
            events: checkpoint.events,
            root: checkpoint.root.to_string(),
            previous: checkpoint.previous.to_string(),
            kept_from: checkpoint.kept_from,
            hash: signed.hash().to_string(),
            signed: signed.jws.clone(),
        }
    }
}
