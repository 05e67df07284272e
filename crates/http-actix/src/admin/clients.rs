//! `/clients`: the operator's clients, their secrets, whom they let in, and what is open to them.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::admission::{AccessRule, AccessRuleRejected, Release};
use countersign_domain::challenge::iso8601;
use countersign_domain::client::{Client, ClientAuthentication, DisplayMetadata};
use countersign_domain::client_secrets::KeepOld;
use countersign_domain::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use countersign_domain::id::ClientId;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::registration::{RegistrationRejected, RequestedMetadata};
use countersign_ports::SecretRecord;
use countersign_usecases::Management;
use countersign_usecases::clients::change_client::{ChangeClientError, judge_change, store_change};
use countersign_usecases::clients::delete_client::remove_client;
use countersign_usecases::clients::list_clients::list_clients;
use countersign_usecases::clients::open_resource::{
    OpenResourceError, close_resources, judge_opened, open_resources,
};
use countersign_usecases::clients::register_client::{RegisterClientError, register_with_resources};
use countersign_usecases::clients::rotate_client_secret::{
    RotateClientSecretError, read_secrets, rotate_client_secret,
};
use countersign_usecases::context::clients::Clients;
use countersign_usecases::people::change_access::{ChangeAccessError, change_access};
use countersign_usecases::people::read_access::{AccessRead, read_access};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::AdminState;
use super::admit::Caller;
use super::problem::Problem;
use super::read::{IfMatch, Json, Query, mark_of, one, repeatable};

/// How often a change that names no ETag is tried again because somebody else was faster.
const TRIES: usize = 5;

/// The registration of a client, with the names of RFC 7591.
#[derive(Clone, Default, Deserialize, Serialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registration {
    /// The name that people see: 1 to 100 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_name: Option<String>,
    /// Where people may be sent back to: 1 to 20 URIs, or none if `grant_types` does not have
    /// `authorization_code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect_uris: Option<Vec<String>>,
    /// The scopes that it may request, separated by spaces; `profile` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    /// `authorization_code` and `refresh_token` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant_types: Option<Vec<String>>,
    /// `client_secret_post` by default. A change cannot choose between a secret, keys and none.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_endpoint_auth_method: Option<String>,
    /// The algorithm that signs the client's assertions.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_endpoint_auth_signing_alg: Option<String>,
    /// Its keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks: Option<BTreeMap<String, Value>>,
    /// Where its keys are.
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks_uri: Option<String>,
    /// The algorithm that signs its ID tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token_signed_response_alg: Option<String>,
    /// Whether its authorization requests must be pushed (RFC 9126).
    #[serde(skip_serializing_if = "Option::is_none")]
    require_pushed_authorization_requests: Option<bool>,
    /// Whether its access tokens must be bound to a key (DPoP).
    #[serde(skip_serializing_if = "Option::is_none")]
    dpop_bound_access_tokens: Option<bool>,
    /// Where people may go after signing out.
    #[serde(skip_serializing_if = "Option::is_none")]
    post_logout_redirect_uris: Option<Vec<String>>,
    /// Where the client is told that a sign-in ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    backchannel_logout_uri: Option<String>,
    /// The client's home page.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_uri: Option<String>,
    /// Its logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    logo_uri: Option<String>,
    /// Terms of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    tos_uri: Option<String>,
    /// Privacy policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_uri: Option<String>,
    /// How to reach the people who are responsible for the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    contacts: Option<Vec<String>>,
    /// `web` or `native`.
    #[serde(skip_serializing_if = "Option::is_none")]
    application_type: Option<String>,
    /// For a new client: the resources to open to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Vec<String>>,
}

/// A client. What has no value is left out.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct ClientBody {
    /// Its id.
    client_id: String,
    /// Its secret. Only when it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    /// The token for its own management (RFC 7592). Only when it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_access_token: Option<String>,
    /// The name that people see.
    client_name: String,
    /// Where people may be sent back to.
    redirect_uris: Vec<String>,
    /// The scopes that it may request, separated by spaces.
    scope: String,
    /// The grant types that it may use.
    grant_types: Vec<String>,
    /// `code`, or nothing for a client without `authorization_code`.
    response_types: Vec<String>,
    /// How it authenticates.
    token_endpoint_auth_method: String,
    /// Changes when its secret does, and tells nothing of it. Only if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret_mark: Option<String>,
    /// The algorithm that signs the client's assertions.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_endpoint_auth_signing_alg: Option<String>,
    /// Its keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks: Option<BTreeMap<String, Value>>,
    /// Where its keys are.
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks_uri: Option<String>,
    /// The algorithm that signs its ID tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token_signed_response_alg: Option<String>,
    /// Whether its authorization requests must be pushed.
    require_pushed_authorization_requests: bool,
    /// Whether its access tokens must be bound to a key.
    dpop_bound_access_tokens: bool,
    /// Where people may go after signing out.
    post_logout_redirect_uris: Vec<String>,
    /// Where the client is told that a sign-in ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    backchannel_logout_uri: Option<String>,
    /// The client's home page.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_uri: Option<String>,
    /// Its logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    logo_uri: Option<String>,
    /// Terms of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    tos_uri: Option<String>,
    /// Privacy policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_uri: Option<String>,
    /// How to reach the people who are responsible for the client.
    contacts: Vec<String>,
    /// `web` or `native`.
    #[serde(skip_serializing_if = "Option::is_none")]
    application_type: Option<String>,
    /// The resources that are open to it.
    resources: Vec<String>,
    /// The address of the document that describes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    /// Who registered it: `operator`, `self` or `document`.
    registered_by: String,
    /// When it was registered.
    created_at: String,
}

/// A page of clients, in the order of their ids.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct ClientList {
    /// The clients.
    items: Vec<ClientBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Asks for a new secret.
#[derive(Default, Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSecret {
    /// For how many seconds the old secret works on: 0, which is usual, to 7776000 (90 days).
    keep_old: Option<u32>,
}

/// A new secret. It is shown only this once.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct SecretBody {
    /// The client.
    client_id: String,
    /// The new secret.
    client_secret: String,
    /// Until when the replaced one works. Only if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_secret_expires_at: Option<String>,
    /// When the one before that would have ended. It ended at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    older_secret_cut_short: Option<String>,
}

/// What is known about the secrets of a client, the newest first.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct SecretList {
    /// Those that work.
    items: Vec<SecretRecordBody>,
}

/// What is known about a secret.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct SecretRecordBody {
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// When it was last used, to the minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<String>,
}

/// Opens resources to a client, or closes them.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResourceUris {
    /// The resources, exactly as they are declared.
    resources: Vec<String>,
}

/// Decides whom a client lets in.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAccess {
    /// `everyone`, `nobody`, `groups:a,b`, or `default` to follow the setting `default_access`.
    rule: String,
    /// The groups that the client is told: `all`, `a,b`, or `rule` for those of its rule. If it is left out, that
    /// stays.
    release: Option<String>,
}

/// Whom a client lets in, and which groups it is told.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct AccessBody {
    /// The client.
    client_id: String,
    /// Its name.
    client_name: String,
    /// The rule that counts.
    access: String,
    /// The client's own rule, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// The setting that other clients follow.
    default_access: String,
    /// The groups that the client is told: `rule`, `all` or `a,b`.
    release: String,
    /// The groups that the rule names.
    groups: Vec<AccessGroup>,
}

/// A group that a rule names.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct AccessGroup {
    /// Its name.
    name: String,
    /// How many users are in it; 1001 stands for more than 1000. Only if there is such a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    users: Option<u64>,
    /// How many wallets are in it; 1001 stands for more than 1000. Only if there is such a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallets: Option<u64>,
}

pub(super) async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["limit", "after"])?;
    let after = query.text("after").map(|after| {
        ClientId::parse(after)
            .ok_or_else(|| Problem::invalid("after", "it is not what `next` of the list before said"))
    });
    let page = list_clients(state.management(), after.transpose()?, query.limit()?).await?;
    let next = page.clients.last().filter(|_| page.more).map(|last| last.id.to_string());
    let items = page.clients.into_iter().map(ClientBody::of).collect();
    Ok(HttpResponse::Ok().json(ClientList { items, next }))
}

pub(super) async fn create(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    body: Json<Registration>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let repeat = repeatable(&state, &caller, &request, &body).await?;
    let management = state.management_for(&caller);
    let management = repeat.as_ref().map_or(management, |repeat| repeat.of(management));
    let mut registration = body.value;
    let resources = registration.resources.take().unwrap_or_default();
    judge_opened(&management.resource_rules().await?, &resources).map_err(not_opened)?;
    let created = register_with_resources(management, registration.into_requested(), resources).await;
    let created = created.map_err(|error| match error {
        RegisterClientError::Rejected(rejected) => rejected_metadata(&rejected),
        RegisterClientError::Store(error) => error.into(),
        RegisterClientError::IdTaken => Problem::internal(error),
    })?;
    state.app.metrics.clients_registered.count();
    let mut shown = ClientBody::of(created.client);
    shown.client_secret = created.secret.map(|secret| secret.expose().to_owned());
    shown.registration_access_token = Some(created.registration_token.expose().to_owned());
    Ok(HttpResponse::Created().json(shown))
}

pub(super) async fn show(
    state: Data<AdminState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    one(&ClientBody::of(find(state.management(), &id).await?))
}

/// Changes the fields that are named; null takes one away. If the caller does not say what it read, a change that
/// somebody else made at the same time is kept, too. What is wrong with the change itself is told before what was
/// read is compared (RFC 9110, section 13.2.1).
pub(super) async fn update(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<Registration>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let if_match = IfMatch::of(&request)?;
    if body.fields.contains_key("resources") {
        let detail = "it is for new clients: use resources/open and resources/close";
        return Err(Problem::invalid("resources", detail));
    }
    for _ in 0..TRIES {
        let management = state.management_for(&caller);
        let read = find(management, &id).await?;
        let change = judge_change(management, read.clone(), changed(&read, &body)?).await;
        let change = change.map_err(not_changed)?;
        let is_of_tag = if_match.judge(&ClientBody::of(read.clone()))?;
        let clients = management.clients.only_if_still(read);
        match store_change(Management { clients: &clients, ..management }, change).await {
            Ok(after) => return one(&ClientBody::of(after)),
            Err(ChangeClientError::ClientUnknown) if is_of_tag => return Err(Problem::changed_meanwhile()),
            // Somebody was faster, or it was deleted: the next look tells.
            Err(ChangeClientError::ClientUnknown) => {}
            Err(error) => return Err(not_changed(error)),
        }
    }
    Err(Problem::conflict("others change this client all the time; try again"))
}

pub(super) async fn delete(
    state: Data<AdminState>,
    request: HttpRequest,
    caller: Caller,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    if !remove_client(guarded.management(&state, &caller), guarded.read.id).await? {
        return Err(guarded.gone());
    }
    Ok(HttpResponse::NoContent().finish())
}

pub(super) async fn secrets(
    state: Data<AdminState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let client = find(state.management(), &id).await?;
    let secrets = read_secrets(state.management(), client.id).await?;
    let items = secrets.into_iter().map(SecretRecordBody::of).collect();
    Ok(HttpResponse::Ok().json(SecretList { items }))
}

pub(super) async fn rotate(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<NewSecret>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let keep_old = KeepOld::seconds(body.value.keep_old.unwrap_or_default());
    let keep_old = keep_old.ok_or_else(|| {
        Problem::invalid("keep_old", format!("it takes at most {} seconds", KeepOld::LONGEST))
    })?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    let rotated = rotate_client_secret(guarded.management(&state, &caller), guarded.read.id, keep_old).await;
    let rotated = rotated.map_err(|error| match error {
        RotateClientSecretError::Unknown => guarded.gone(),
        RotateClientSecretError::NoSecret => Problem::conflict(error.to_string()),
        RotateClientSecretError::Store(error) => error.into(),
    })?;
    Ok(HttpResponse::Ok().json(SecretBody {
        client_id: guarded.read.id.to_string(),
        client_secret: rotated.secret.expose().to_owned(),
        old_secret_expires_at: rotated.old_expires_at.map(iso8601),
        older_secret_cut_short: rotated.cut_short.map(iso8601),
    }))
}

pub(super) async fn open(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<ResourceUris>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    // What no client could have is told first (RFC 9110, section 13.2.1).
    judge_opened(&state.management().resource_rules().await?, &body.value.resources).map_err(not_opened)?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    let opened =
        open_resources(guarded.management(&state, &caller), guarded.read.id, &body.value.resources).await;
    one(&ClientBody::of(opened.map_err(|error| guarded.or_gone(error))?))
}

pub(super) async fn close(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<ResourceUris>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let guarded = Guarded::begin(&state, &request, &id).await?;
    let closed =
        close_resources(guarded.management(&state, &caller), guarded.read.id, &body.value.resources).await;
    one(&ClientBody::of(closed.map_err(|error| guarded.or_gone(error))?))
}

pub(super) async fn access(
    state: Data<AdminState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let client = find(state.management(), &id).await?;
    let read = read_access(state.management(), client).await?;
    one(&AccessBody::of(&state, &read))
}

pub(super) async fn set_access(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
    body: Json<NewAccess>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let NewAccess { rule, release } = body.value;
    let rule = match rule.as_str() {
        "default" => None,
        rule => Some(AccessRule::parse(rule).map_err(|rejected| {
            let detail = match &rejected {
                AccessRuleRejected::Unknown(_) => {
                    "it is everyone, nobody, groups:NAME,NAME, or default".to_owned()
                }
                AccessRuleRejected::Group(rejected) => rejected.to_string(),
            };
            Problem::invalid("rule", detail)
        })?),
    };
    let release = release.map(|release| match release.as_str() {
        "rule" => Ok(Release::OfRule),
        release => {
            Release::parse(release).map_err(|rejected| Problem::invalid("release", rejected.to_string()))
        }
    });
    let release = release.transpose()?;
    let management = state.management_for(&caller);
    let client = find(management, &id).await?;
    let before = read_access(management, client.clone()).await?;
    let is_of_tag = IfMatch::of(&request)?.judge(&AccessBody::of(&state, &before))?;
    let guarded = Guarded::of(&state, client.clone(), is_of_tag);
    let changed = change_access(guarded.management(&state, &caller), client, rule, release).await;
    let changed = changed.map_err(|error| match error {
        ChangeAccessError::GroupUnknown(_) => Problem::conflict(error.to_string()),
        ChangeAccessError::ClientUnknown => guarded.gone(),
        ChangeAccessError::Store(error) => error.into(),
    })?;
    one(&AccessBody::of(&state, &changed.now))
}

/// A client that is to be changed, and the clients through which that is done: if the caller said what it read,
/// only if the client is still like that.
struct Guarded {
    read: Client,
    clients: Clients,
    is_of_tag: bool,
}

impl Guarded {
    async fn begin(state: &AdminState, request: &HttpRequest, id: &str) -> Result<Self, Problem> {
        let read = find(state.management(), id).await?;
        let is_of_tag = IfMatch::of(request)?.judge(&ClientBody::of(read.clone()))?;
        Ok(Self::of(state, read, is_of_tag))
    }

    fn of(state: &AdminState, read: Client, is_of_tag: bool) -> Self {
        let clients = state.management().clients;
        let clients = if is_of_tag { clients.only_if_still(read.clone()) } else { clients.clone() };
        Self { read, clients, is_of_tag }
    }

    fn management<'a>(&'a self, state: &'a AdminState, caller: &'a Caller) -> Management<'a> {
        Management { clients: &self.clients, ..state.management_for(caller) }
    }

    /// It is not there, or no longer as it was read.
    fn gone(&self) -> Problem {
        if self.is_of_tag { Problem::changed_meanwhile() } else { unknown(&self.read.id.to_string()) }
    }

    fn or_gone(&self, error: OpenResourceError) -> Problem {
        match error {
            OpenResourceError::ClientUnknown => self.gone(),
            OpenResourceError::Unfit { .. }
            | OpenResourceError::NotDeclared(_)
            | OpenResourceError::Store(_) => not_opened(error),
        }
    }
}

async fn find(management: Management<'_>, id: &str) -> Result<Client, Problem> {
    let Some(parsed) = ClientId::parse(id) else { return Err(unknown(id)) };
    management.clients.find_fresh(parsed).await?.ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Problem {
    let id: String = id.chars().take(100).collect();
    Problem::not_found(format!("no client has the id {id:?}")).about("client_id")
}

fn not_changed(error: ChangeClientError) -> Problem {
    match error {
        ChangeClientError::Rejected(rejected) => rejected_metadata(&rejected),
        ChangeClientError::Described(_) => Problem::conflict(error.to_string()),
        ChangeClientError::MethodChange => Problem::invalid("token_endpoint_auth_method", error.to_string()),
        ChangeClientError::ClientUnknown => Problem::not_found(error.to_string()),
        ChangeClientError::Store(error) => error.into(),
    }
}

fn not_opened(error: OpenResourceError) -> Problem {
    match error {
        OpenResourceError::Unfit { .. } => Problem::invalid("resources", error.to_string()),
        OpenResourceError::NotDeclared(_) => Problem::conflict(error.to_string()).about("resources"),
        OpenResourceError::ClientUnknown => Problem::not_found(error.to_string()),
        OpenResourceError::Store(error) => error.into(),
    }
}

fn rejected_metadata(rejected: &RegistrationRejected) -> Problem {
    let field = match rejected {
        RegistrationRejected::Missing(field) | RegistrationRejected::Field { field, .. } => *field,
        RegistrationRejected::RedirectUriCount | RegistrationRejected::RedirectUri { .. } => "redirect_uris",
        RegistrationRejected::Name(_) => "client_name",
        RegistrationRejected::Keys(_) => "jwks",
    };
    Problem::new(StatusCode::BAD_REQUEST, rejected.to_string()).about(field)
}

/// The registration of a client, with the changes of a request.
fn changed(read: &Client, body: &Json<Registration>) -> Result<RequestedMetadata, Problem> {
    let mut fields = match serde_json::to_value(Registration::of(read)).map_err(Problem::internal)? {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            serde_json::Map::new()
        }
    };
    for (name, value) in &body.fields {
        if value.is_null() {
            fields.remove(name);
        } else {
            fields.insert(name.clone(), value.clone());
        }
    }
    let merged: Registration = serde_json::from_value(Value::Object(fields)).map_err(Problem::internal)?;
    Ok(merged.into_requested())
}

impl Registration {
    fn into_requested(self) -> RequestedMetadata {
        RequestedMetadata {
            client_name: self.client_name,
            redirect_uris: self.redirect_uris,
            scopes: None,
            scope: self.scope,
            response_types: None,
            grant_types: self.grant_types,
            token_endpoint_auth_method: self.token_endpoint_auth_method,
            subject_type: None,
            backchannel_logout_uri: self.backchannel_logout_uri,
            require_pushed_authorization_requests: self.require_pushed_authorization_requests,
            dpop_bound_access_tokens: self.dpop_bound_access_tokens,
            display: DisplayMetadata {
                client_uri: self.client_uri,
                logo_uri: self.logo_uri,
                tos_uri: self.tos_uri,
                policy_uri: self.policy_uri,
                contacts: self.contacts.unwrap_or_default(),
                jwks: self.jwks.map(|keys| Value::from_iter(keys).to_string()),
                jwks_uri: self.jwks_uri,
                application_type: self.application_type,
                id_token_signed_response_alg: self.id_token_signed_response_alg,
                token_endpoint_auth_signing_alg: self.token_endpoint_auth_signing_alg,
                post_logout_redirect_uris: self.post_logout_redirect_uris.unwrap_or_default(),
            },
        }
    }

    /// The registration of a client, as a change leaves it.
    fn of(client: &Client) -> Self {
        let shown = ClientBody::of(client.clone());
        Self {
            client_name: Some(shown.client_name),
            redirect_uris: Some(shown.redirect_uris),
            scope: Some(shown.scope),
            grant_types: Some(shown.grant_types),
            token_endpoint_auth_method: Some(shown.token_endpoint_auth_method),
            token_endpoint_auth_signing_alg: shown.token_endpoint_auth_signing_alg,
            jwks: shown.jwks,
            jwks_uri: shown.jwks_uri,
            id_token_signed_response_alg: shown.id_token_signed_response_alg,
            require_pushed_authorization_requests: Some(shown.require_pushed_authorization_requests),
            dpop_bound_access_tokens: Some(shown.dpop_bound_access_tokens),
            post_logout_redirect_uris: Some(shown.post_logout_redirect_uris),
            backchannel_logout_uri: shown.backchannel_logout_uri,
            client_uri: shown.client_uri,
            logo_uri: shown.logo_uri,
            tos_uri: shown.tos_uri,
            policy_uri: shown.policy_uri,
            contacts: Some(shown.contacts),
            application_type: shown.application_type,
            resources: None,
        }
    }
}

impl ClientBody {
    fn of(client: Client) -> Self {
        let is_redirected = client.may_use(GrantType::AuthorizationCode);
        let response_types = if is_redirected { vec![RESPONSE_TYPE_CODE.to_owned()] } else { Vec::new() };
        let secret_mark = match &client.authentication {
            ClientAuthentication::Secret { secrets, .. } => Some(mark_of(secrets.current.as_bytes())),
            ClientAuthentication::Keys | ClientAuthentication::Public => None,
        };
        let metadata = client.metadata;
        let display = metadata.display;
        Self {
            client_id: client.id.to_string(),
            client_secret: None,
            registration_access_token: None,
            client_name: metadata.name,
            redirect_uris: metadata.redirect_uris.iter().map(RedirectUri::to_string).collect(),
            scope: metadata.scopes.to_string(),
            grant_types: metadata.grant_types.iter().map(|kind| kind.name().to_owned()).collect(),
            response_types,
            token_endpoint_auth_method: client.authentication.method().to_owned(),
            secret_mark,
            token_endpoint_auth_signing_alg: display.token_endpoint_auth_signing_alg,
            jwks: display.jwks.and_then(|jwks| serde_json::from_str(&jwks).ok()),
            jwks_uri: display.jwks_uri,
            id_token_signed_response_alg: display.id_token_signed_response_alg,
            require_pushed_authorization_requests: metadata.requires_pushed_requests,
            dpop_bound_access_tokens: metadata.requires_bound_tokens,
            post_logout_redirect_uris: display.post_logout_redirect_uris,
            backchannel_logout_uri: metadata.backchannel_logout_uri,
            client_uri: display.client_uri,
            logo_uri: display.logo_uri,
            tos_uri: display.tos_uri,
            policy_uri: display.policy_uri,
            contacts: display.contacts,
            application_type: display.application_type,
            resources: client.resources,
            document: client.document,
            registered_by: client.origin.name().to_owned(),
            created_at: iso8601(client.created_at),
        }
    }
}

impl SecretRecordBody {
    fn of(secret: SecretRecord) -> Self {
        Self {
            created_at: secret.created_at.map(iso8601),
            expires_at: secret.expires_at.map(iso8601),
            last_used_at: secret.last_used_at.map(iso8601),
        }
    }
}

impl AccessBody {
    fn of(state: &AdminState, read: &AccessRead) -> Self {
        let access = &read.client.access;
        let groups = read.groups.iter().map(|(name, counted)| AccessGroup {
            name: name.to_string(),
            users: counted.as_ref().map(|counted| counted.users),
            wallets: counted.as_ref().map(|counted| counted.wallets),
        });
        Self {
            client_id: read.client.id.to_string(),
            client_name: read.client.metadata.name.clone(),
            access: read.rule.to_string(),
            rule: access.rule.as_ref().map(ToString::to_string),
            default_access: state.management().policy.default_access.to_string(),
            release: match &access.release {
                Release::OfRule => "rule".to_owned(),
                release @ (Release::All | Release::Groups(_)) => release.to_string(),
            },
            groups: groups.collect(),
        }
    }
}
