//! `/admin/refusals`: which requests this server refused lately, why, and what to do.

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::subject::Subject;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_http_actix::state::recent_refusals::RecentRefusal;
use countersign_operators::desk::overview::count_replicas;
use serde::Serialize;

use super::admit::Visit;
use super::names::NameOf;
use super::query::{Query, segment};
use super::show::{About, Here};
use super::tried::TriedView;
use super::view::{WalletView, unavailable};

/// How many of them the list shows.
const SHOWN: usize = 100;
/// From how many letters on a part of a reference finds it.
const PART: usize = 6;
/// How many letters of a reference a list shows.
const END: usize = 8;

#[derive(Serialize)]
struct Refusals<'a> {
    refusals: Vec<RefusalRow>,
    since: Moment,
    /// How many other servers keep their own.
    others: usize,
    /// Are there more than are shown?
    more: bool,
    filter: Filter<'a>,
    reasons: Vec<&'static str>,
}

#[derive(Serialize)]
struct Filter<'a> {
    q: Option<&'a str>,
    reason: Option<&'a str>,
}

/// A refusal, in a list and on its page.
#[derive(Serialize)]
pub(super) struct RefusalRow {
    at: Moment,
    reason: &'static str,
    reference: String,
    /// Its end, by which people tell references apart: they begin with the time.
    short: String,
    /// Its page, below `/admin`.
    path: String,
    client: Option<NamedClient>,
    wallet: Option<WalletView>,
    method: String,
    asked: String,
    network: Option<String>,
    status: Option<u16>,
    error: Option<&'static str>,
    description: String,
    cause: String,
}

#[derive(Clone, Serialize)]
struct NamedClient {
    name: String,
    /// Its page, below `/admin`; none if no such client is registered.
    path: Option<String>,
}

#[derive(Serialize)]
struct RefusalPage {
    reference: String,
    since: Moment,
    others: usize,
    refusals: Vec<Explained>,
    /// Its events, below `/admin`.
    events_path: String,
}

/// A refusal with what would happen now.
#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    row: RefusalRow,
    tried: Vec<TriedView>,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["q", "reason"]);
    let (wanted, reason) = (query.text("q"), query.text("reason").and_then(RefusedFor::parse));
    let found = visit.state.recent_refusals.latest(|refusal| {
        reason.is_none_or(|reason| reason == refusal.refused_for)
            && wanted.is_none_or(|wanted| is_about(refusal, wanted))
    });
    let clients = named_clients(&visit, found.iter().take(SHOWN).map(|refusal| &**refusal)).await?;
    let rows = found.iter().take(SHOWN).map(|refusal| RefusalRow::of(&visit, refusal, &clients));
    let page = Refusals {
        refusals: rows.collect(),
        since: Moment::at(visit.state.recent_refusals.begun()),
        others: others(&visit).await?,
        more: found.len() > SHOWN,
        filter: Filter { q: wanted, reason: reason.map(RefusedFor::name) },
        reasons: RefusedFor::ALL
            .into_iter()
            .filter(|reason| *reason != RefusedFor::Pending)
            .map(RefusedFor::name)
            .collect(),
    };
    visit.page(DeskPage::Refusals, Here::Refusals, &page).await
}

/// A reference that is not known here is not a path that does not exist: another server may know it.
pub(super) async fn show(visit: Visit, reference: Path<String>) -> Result<HttpResponse, ApiError> {
    let reference = reference.into_inner();
    let found = visit.state.recent_refusals.latest(|refusal| *refusal.reference == *reference);
    let clients = named_clients(&visit, found.iter().map(|refusal| &**refusal)).await?;
    let mut refusals = Vec::with_capacity(found.len());
    for refusal in &found {
        let client = refusal.client.as_deref().and_then(|id| clients.get(id)?.as_ref());
        let tried = match (refusal.refused_for, client, &refusal.wallet) {
            (RefusedFor::NotAdmitted | RefusedFor::Blocked, Some(client), Some(account)) => {
                TriedView::ask(&visit, client, &Subject::Wallet(account.clone())).await?
            }
            _ => Vec::new(),
        };
        refusals.push(Explained { row: RefusalRow::of(&visit, refusal, &clients), tried });
    }
    let page = RefusalPage {
        events_path: format!("/events?request={}", segment(&reference)),
        since: Moment::at(visit.state.recent_refusals.begun()),
        others: others(&visit).await?,
        refusals,
        reference,
    };
    let status = if page.refusals.is_empty() { StatusCode::NOT_FOUND } else { StatusCode::OK };
    let about = About { subject: Some(NameOf::text(&page.reference)), ..About::default() };
    visit.show(DeskPage::Refusal, Here::Refusals, about, status, &page).await
}

/// The latest refusals, for the overview.
pub(super) async fn latest(visit: &Visit, most: usize) -> Result<Vec<RefusalRow>, ApiError> {
    let mut found =
        visit.state.recent_refusals.latest(|refusal| refusal.refused_for != RefusedFor::NoSuchPage);
    found.truncate(most);
    let clients = named_clients(visit, found.iter().map(|refusal| &**refusal)).await?;
    Ok(found.iter().map(|refusal| RefusalRow::of(visit, refusal, &clients)).collect())
}

/// The page of a refusal that this server knows, if a text is its reference.
pub(super) fn find(visit: &Visit, text: &str) -> Option<String> {
    let found = visit.state.recent_refusals.latest(|refusal| *refusal.reference == *text);
    (!found.is_empty()).then(|| path_of(text))
}

fn path_of(reference: &str) -> String {
    format!("/refusals/{}", segment(reference))
}

/// Is a refusal about what an operator looks for: a reference or a part of it, a client, or a wallet by its address, by CAIP-10 or
/// shortened?
fn is_about(refusal: &RecentRefusal, wanted: &str) -> bool {
    let is_reference =
        *refusal.reference == *wanted || (wanted.len() >= PART && refusal.reference.contains(wanted));
    let is_client = refusal.client.as_deref() == Some(wanted);
    let is_wallet = refusal.wallet.as_ref().is_some_and(|account| {
        account.address.eq_ignore_ascii_case(wanted)
            || account.caip10().eq_ignore_ascii_case(wanted)
            || account.shortened().eq_ignore_ascii_case(wanted)
    });
    is_reference || is_client || is_wallet
}

/// The end of a reference. One that came with the request has plain letters too.
fn end_of(reference: &str) -> &str {
    reference.get(reference.len().saturating_sub(END)..).unwrap_or(reference)
}

async fn others(visit: &Visit) -> Result<usize, ApiError> {
    Ok(count_replicas(visit.desk()).await.map_err(unavailable)?.saturating_sub(1))
}

/// The clients that refused requests named, by what they named.
async fn named_clients(
    visit: &Visit,
    refusals: impl Iterator<Item = &RecentRefusal>,
) -> Result<HashMap<String, Option<Client>>, ApiError> {
    let mut clients = HashMap::new();
    for named in refusals.filter_map(|refusal| refusal.client.as_deref()) {
        if clients.contains_key(named) {
            continue;
        }
        let client = match ClientId::named(named) {
            Some(id) => visit.management().clients.find(id).await.map_err(unavailable)?,
            None => None,
        };
        clients.insert(named.to_owned(), client.map(|client| (*client).clone()));
    }
    Ok(clients)
}

impl RefusalRow {
    fn of(visit: &Visit, refusal: &RecentRefusal, clients: &HashMap<String, Option<Client>>) -> Self {
        let client = refusal.client.as_deref().map(|named| match clients.get(named) {
            Some(Some(client)) => NamedClient {
                name: client.metadata.name.clone(),
                path: Some(format!("/clients/{}", client.id)),
            },
            _ => NamedClient { name: named.to_owned(), path: None },
        });
        let wallets = &*visit.state.context.wallets;
        Self {
            at: Moment::exact(refusal.at),
            reason: refusal.refused_for.name(),
            reference: refusal.reference.to_string(),
            short: end_of(&refusal.reference).to_owned(),
            path: path_of(&refusal.reference),
            client,
            wallet: refusal.wallet.as_ref().map(|account| WalletView::of(wallets, account)),
            method: refusal.method.to_string(),
            asked: refusal.path.to_string(),
            network: refusal.peer.as_ref().map(ToString::to_string),
            status: refusal.status,
            error: refusal.error,
            description: refusal.description.to_string(),
            cause: refusal.cause.to_string(),
        }
    }
}
