//! `/admin/clients`: clients, their secrets, and what is open to them.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use countersign_domain::admission::Release;
use countersign_domain::client::{Client, ClientAuthentication};
use countersign_domain::id::ClientId;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_ports::SecretRecord;
use countersign_usecases::clients::list_clients::list_clients;
use countersign_usecases::clients::rotate_client_secret::read_secrets;
use serde::Serialize;

use super::admit::Visit;
use super::forms::Form;
use super::query::{Pager, Query, wrong_row};
use super::sent::Sent;
use super::show::{About, Here};
use super::view::unavailable;
use crate::error::ApiError;
use crate::page::moment::Moment;
use crate::page::name::DeskPage;

#[derive(Serialize)]
struct Clients {
    clients: Vec<ClientRow>,
    pager: Pager,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct ClientRow {
    id: String,
    name: String,
    registered_by: &'static str,
    authentication: &'static str,
    created: Moment,
}

#[derive(Serialize)]
struct ClientPage {
    id: String,
    name: String,
    registered_by: &'static str,
    document: Option<String>,
    facts: Vec<Fact>,
    created: Moment,
    access: AccessView,
    secrets: Vec<SecretRow>,
    resources: Vec<ResourceRow>,
    forms: Vec<Form>,
}

/// Something that a client registered, by the name of its field.
#[derive(Serialize)]
struct Fact {
    key: &'static str,
    values: Vec<String>,
}

/// Whom a client lets in, and which groups it is told.
#[derive(Serialize)]
pub(super) struct AccessView {
    rule: String,
    /// Is it the client's own rule?
    own: bool,
    /// `all` or `a,b`; none if the rule decides.
    release: Option<String>,
}

#[derive(Serialize)]
struct SecretRow {
    created: Option<Moment>,
    expires: Option<Moment>,
    used: Option<Moment>,
}

#[derive(Serialize)]
struct ResourceRow {
    uri: String,
    form: Option<Form>,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let query = Query::of(&visit.request, &["limit", "after"]);
    let after = query.after().map(|after| ClientId::parse(after).ok_or_else(wrong_row)).transpose()?;
    let listed = list_clients(visit.management(), after, query.limit()?).await.map_err(unavailable)?;
    let next = listed.clients.last().filter(|_| listed.more).map(|last| last.id.to_string());
    let page = Clients {
        clients: listed.clients.iter().map(ClientRow::of).collect(),
        pager: query.pager(next),
        forms: visit.make_form("client-register", &Sent::default(), &[]).into_iter().collect(),
    };
    visit.page(DeskPage::Clients, Here::Clients, &page)
}

pub(super) async fn show(visit: Visit, id: Path<String>) -> Result<HttpResponse, ApiError> {
    let id = ClientId::parse(&id).ok_or_else(ApiError::not_found)?;
    let management = visit.management();
    let client = management.clients.find_fresh(id).await.map_err(unavailable)?;
    let client = client.ok_or_else(ApiError::not_found)?;
    let secrets = match client.authentication {
        ClientAuthentication::Secret { .. } => read_secrets(management, id).await.map_err(unavailable)?,
        ClientAuthentication::Keys | ClientAuthentication::Public => Vec::new(),
    };
    let resources = client.resources.iter().enumerate().map(|(number, uri)| {
        let known = Sent::of([("client", id.to_string()), ("resources", uri.clone())]);
        let form = visit.make_form("client-close-resources", &known, &["resources"]);
        ResourceRow { uri: uri.clone(), form: form.map(|form| form.numbered(number, uri)) }
    });
    let page = ClientPage {
        id: id.to_string(),
        name: client.metadata.name.clone(),
        registered_by: client.origin.name(),
        document: client.document.clone(),
        facts: facts(&client),
        created: Moment::at(client.created_at),
        access: AccessView::of(&visit, &client),
        secrets: secrets.iter().map(SecretRow::of).collect(),
        resources: resources.collect(),
        forms: forms(&visit, &client),
    };
    let about = About { subject: Some(&page.name), ..About::default() };
    visit.show(DeskPage::Client, Here::Clients, about, StatusCode::OK, &page)
}

fn forms(visit: &Visit, client: &Client) -> Vec<Form> {
    let mut known = Sent::of_client(client);
    let (rule, groups) = match &client.access.rule {
        None => ("default".to_owned(), String::new()),
        Some(rule) => match rule.to_string().split_once(':') {
            Some((word, groups)) => (word.to_owned(), groups.to_owned()),
            None => (rule.to_string(), String::new()),
        },
    };
    known.add("rule", rule);
    known.add("rule_groups", groups);
    let has_secret = matches!(client.authentication, ClientAuthentication::Secret { .. });
    let is_described = client.document.is_some();
    let changes =
        ["client-change", "client-access", "client-open-resources", "client-rotate-secret", "client-delete"];
    let fitting = changes.into_iter().filter(|change| match *change {
        "client-change" => !is_described,
        "client-rotate-secret" => has_secret,
        _ => true,
    });
    fitting.filter_map(|change| visit.make_form(change, &known, &[])).collect()
}

/// What the client registered. What has no value is left out.
fn facts(client: &Client) -> Vec<Fact> {
    let metadata = &client.metadata;
    let shown = &metadata.display;
    let one = |value: &Option<String>| value.iter().cloned().collect::<Vec<_>>();
    let if_set = |is_set: bool| if is_set { vec!["true".to_owned()] } else { Vec::new() };
    let facts = [
        ("redirect_uris", metadata.redirect_uris.iter().map(RedirectUri::to_string).collect()),
        ("scope", vec![metadata.scopes.to_string()]),
        ("token_endpoint_auth_method", vec![client.authentication.method().to_owned()]),
        ("grant_types", metadata.grant_types.iter().map(|kind| kind.name().to_owned()).collect()),
        ("post_logout_redirect_uris", shown.post_logout_redirect_uris.clone()),
        ("backchannel_logout_uri", one(&metadata.backchannel_logout_uri)),
        ("require_pushed_authorization_requests", if_set(metadata.requires_pushed_requests)),
        ("dpop_bound_access_tokens", if_set(metadata.requires_bound_tokens)),
        ("client_uri", one(&shown.client_uri)),
        ("logo_uri", one(&shown.logo_uri)),
        ("tos_uri", one(&shown.tos_uri)),
        ("policy_uri", one(&shown.policy_uri)),
        ("contacts", shown.contacts.clone()),
        ("application_type", one(&shown.application_type)),
        ("id_token_signed_response_alg", one(&shown.id_token_signed_response_alg)),
        ("token_endpoint_auth_signing_alg", one(&shown.token_endpoint_auth_signing_alg)),
        ("jwks_uri", one(&shown.jwks_uri)),
        ("jwks", one(&shown.jwks)),
    ];
    let facts = facts.into_iter().map(|(key, values): (_, Vec<String>)| Fact { key, values });
    facts.filter(|fact| fact.values.iter().any(|value| !value.is_empty())).collect()
}

impl ClientRow {
    fn of(client: &Client) -> Self {
        Self {
            id: client.id.to_string(),
            name: client.metadata.name.clone(),
            registered_by: client.origin.name(),
            authentication: client.authentication.method(),
            created: Moment::at(client.created_at),
        }
    }
}

impl AccessView {
    pub(super) fn of(visit: &Visit, client: &Client) -> Self {
        let default = &visit.state.context.policy.default_access;
        Self {
            rule: client.access.rule_or(default).to_string(),
            own: client.access.rule.is_some(),
            release: match &client.access.release {
                Release::OfRule => None,
                release @ (Release::All | Release::Groups(_)) => Some(release.to_string()),
            },
        }
    }
}

impl SecretRow {
    fn of(secret: &SecretRecord) -> Self {
        Self {
            created: secret.created_at.map(Moment::at),
            expires: secret.expires_at.map(Moment::at),
            used: secret.last_used_at.map(Moment::at),
        }
    }
}
