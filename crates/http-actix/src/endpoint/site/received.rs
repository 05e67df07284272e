//! `GET /playground/received`: what applications received from a trial server, and what they can ask for to get more.

pub(crate) mod description;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::client::ClientOrigin;
use countersign_domain::id::ClientId;
use countersign_domain::scope::{Scope, ScopeSet};
use serde::Serialize;
use serde_json::Value;

use crate::error::ApiError;
use crate::extract::query_value;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;
use crate::state::received::{Claims, Receipt};

#[derive(Serialize)]
struct ReceivedContext {
    receipts: Vec<Shown>,
}

/// One application on the page.
#[derive(Serialize)]
struct Shown {
    client_id: String,
    /// Its name, if it is still registered.
    name: Option<String>,
    scopes: Vec<String>,
    audiences: Vec<String>,
    access_token: String,
    id_token: Option<String>,
    has_refresh_token: bool,
    more: Vec<More>,
}

/// A scope that the application did not get.
#[derive(Serialize)]
struct More {
    scope: &'static str,
    /// The command that registers it for the client; `None` if the client only has to ask.
    command: Option<String>,
}

/// Shows the page. Where nothing is kept, this path does not exist.
pub(crate) async fn show(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let Some(received) = &state.received else { return Err(ApiError::not_found()) };
    let client_id = query_value(&request, "client_id")?;
    let mut receipts = Vec::new();
    for receipt in received.list(client_id.as_deref()) {
        receipts.push(shown(&state, receipt).await?);
    }
    let context = ReceivedContext { receipts };
    state.pages.show(&request, Language::of(&request, None), Name::Received, StatusCode::OK, &context)
}

async fn shown(state: &AppState, receipt: Receipt) -> Result<Shown, ApiError> {
    let Receipt { client_id, access_token, id_token, has_refresh_token } = receipt;
    let client = match ClientId::parse(&client_id) {
        Some(id) => state.context.clients.find(id).await?,
        None => None,
    };
    let scopes: Vec<String> = texts(access_token.get("scope")).flat_map(|text| words(&text)).collect();
    let origin = client.as_ref().map_or(ClientOrigin::SelfRegistered, |client| client.origin);
    let missing = Scope::ALL.into_iter().filter(|scope| {
        scopes.iter().all(|got| got != scope.name())
            && origin.admitted(&ScopeSet::of(&[*scope])).contains(*scope)
    });
    let more = missing.map(|scope| {
        let command =
            client.as_ref().filter(|client| !client.metadata.scopes.contains(scope)).map(|client| {
                let dev = if state.is_dev { " --dev" } else { "" };
                let registered = &client.metadata.scopes;
                format!(
                    "countersign client update {client_id} --scope \"{registered} {}\"{dev}",
                    scope.name()
                )
            });
        More { scope: scope.name(), command }
    });
    Ok(Shown {
        more: more.collect(),
        name: client.as_ref().map(|client| client.shown_name().into_owned()),
        scopes,
        audiences: texts(access_token.get("aud")).collect(),
        access_token: pretty(access_token),
        id_token: id_token.map(pretty),
        client_id,
        has_refresh_token,
    })
}

/// A claim that is a text or a list of texts.
fn texts(claim: Option<&Value>) -> impl Iterator<Item = String> {
    let listed = match claim {
        Some(Value::Array(listed)) => listed.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    listed.iter().filter_map(Value::as_str).map(str::to_owned)
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn pretty(claims: Claims) -> String {
    format!("{:#}", Value::Object(claims))
}
