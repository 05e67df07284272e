//! `/admin/search`: finds anything by an address, an id, a name, or the id of a request. What is found alone is shown at
//! once.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::desk::search::{Found, SearchFrom, Searched, search};
use serde::Serialize;
use url::form_urlencoded::Serializer;

use super::admit::Visit;
use super::names::NameOf;
use super::query::{Pager, Query, segment, wrong_row};
use super::refusals;
use super::show::{About, Here};
use super::view::{unavailable, wallet_path};

/// The longest text that is searched for. No name and no address is longer.
const MAX_QUERY: usize = 200;

#[derive(Serialize)]
struct Search {
    found: Vec<FoundRow>,
    pager: Pager,
}

#[derive(Serialize)]
struct FoundRow {
    /// The key of what it is.
    what: &'static str,
    /// Its page, below `/admin`.
    path: String,
    name: String,
    about: Option<String>,
    /// What operators call the user or wallet.
    called: Option<NameOf>,
}

pub(super) async fn find(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["q", "after"]);
    let wanted = query.text("q").filter(|text| text.len() <= MAX_QUERY);
    let from = query.after().map(|after| SearchFrom::parse(after).ok_or_else(wrong_row)).transpose()?;
    let is_first = from.is_none();
    let Searched { found, next } = match wanted {
        Some(text) => search(visit.desk(), text, from).await.map_err(unavailable)?,
        None => Searched { found: Vec::new(), next: None },
    };
    let refusal = wanted.filter(|_| is_first).and_then(|text| Some((text, refusals::find(&visit, text)?)));
    let refusal = refusal.map(|(text, path)| FoundRow::refusal(text, path));
    let found: Vec<FoundRow> = refusal.into_iter().chain(found.iter().map(FoundRow::of)).collect();
    if let ([only], None, true) = (found.as_slice(), &next, is_first) {
        let to = format!("{}/admin{}", visit.state.context.policy.public_url.path(), only.path);
        return Ok(HttpResponse::Found().insert_header((header::LOCATION, to)).finish());
    }
    let pager = query.pager(next.map(|next| next.to_string()));
    let about = About { query: wanted, ..About::default() };
    visit.show(DeskPage::Search, Here::Search, about, StatusCode::OK, &Search { found, pager }).await
}

impl FoundRow {
    fn refusal(reference: &str, path: String) -> Self {
        Self { what: "refusal", path, name: reference.to_owned(), about: None, called: None }
    }

    fn of(found: &Found) -> Self {
        let row = |what, path, name: String, about| Self { what, path, name, about, called: None };
        match found {
            Found::User(user, wallet) => {
                let wallet = wallet.as_ref().map(|account| account.caip10());
                let called = Some(NameOf::user(*user));
                Self { called, ..row("user", format!("/people/{user}"), user.to_string(), wallet) }
            }
            Found::Wallet(account, user) => {
                let user = user.map(|user| user.to_string());
                let called = Some(NameOf::wallet(account));
                Self { called, ..row("wallet", wallet_path(account), account.caip10(), user) }
            }
            Found::Client(client) => {
                let path = format!("/clients/{}", client.id);
                row("client", path, client.metadata.name.clone(), Some(client.id.to_string()))
            }
            Found::Group(counted) => {
                let name = counted.group.name.to_string();
                let title = counted.group.title.as_ref().map(|title| title.as_str().to_owned());
                row("group", format!("/groups/{}", segment(&name)), name, title)
            }
            Found::Resource(resource) => row("resource", "/resources".to_owned(), resource.uri.clone(), None),
            Found::AdminKey(key) => row("admin_key", "/admin-keys".to_owned(), key.name.to_string(), None),
            Found::SigningKey(key) => {
                row("signing_key", "/keys".to_owned(), key.kid.clone(), Some(key.algorithm.clone()))
            }
            Found::Proposal(id) => row("proposal", format!("/proposals/{id}"), id.to_string(), None),
            Found::Request(id, count) => {
                let path =
                    format!("/events?{}", Serializer::new(String::new()).append_pair("request", id).finish());
                let more = if count.is_limit { "+" } else { "" };
                row("request", path, id.clone(), Some(format!("{}{more}", count.count)))
            }
            Found::Event(id) => row("event", format!("/events/{id}"), id.to_string(), None),
        }
    }
}
