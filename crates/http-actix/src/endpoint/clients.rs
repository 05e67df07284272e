//! `/oauth/clients`: clients register (RFC 7591) and manage their registration (RFC 7592).

pub(crate) mod description;

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::event::Actor;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::registration::LeftOut;
use countersign_domain::secret::Secret;
use countersign_usecases::clients::client_view::RegisteredView;
use countersign_usecases::clients::delete_client::delete_client;
use countersign_usecases::clients::read_client::read_client;
use countersign_usecases::clients::register_client::register_client;
use countersign_usecases::clients::registration::{Registration, Writer};
use countersign_usecases::clients::update_client::{UpdatedClient, update_client};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::ApiError;
use crate::extract::bearer;
use crate::extract::body::Body;
use crate::limits::rate_limit::Limited;
use crate::settings;
use crate::state::AppState;

/// The metadata that a client registers.
pub(crate) struct ClientRequest(Registration);

impl<'de> Deserialize<'de> for ClientRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Registration::read(Writer::Client, deserializer).map(Self)
    }
}

/// A registered client.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct ClientBody {
    /// The identifier.
    client_id: String,
    /// The secret. Only in the response to the registration, and not for public clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    #[serde(flatten)]
    registered: Registered,
    /// The redirect URIs of the request that were not registered, each as `redirect_uri` with its `reason`. Missing
    /// if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redirect_uris_left_out: Vec<BTreeMap<String, String>>,
    /// Always true if there is a `backchannel_logout_uri`: logout tokens always name the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    backchannel_logout_session_required: Option<bool>,
    /// When the client was registered.
    created_at: String,
    /// The same time in seconds since 1970.
    client_id_issued_at: i64,
    /// 0: the secret does not expire.
    client_secret_expires_at: i64,
    /// Where the client reads and changes its registration.
    registration_client_uri: String,
    /// The access token for that URI. Only in the response to the registration.
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_access_token: Option<String>,
}

/// The fields of the registration. The table of fields describes them.
#[derive(Serialize)]
#[serde(transparent)]
struct Registered(RegisteredView);

impl paperclip::v2::schema::Apiv2Schema for Registered {}

/// A redirect URI that was not registered, as the answer says it.
fn left_out_body(left_out: LeftOut) -> BTreeMap<String, String> {
    [("redirect_uri", left_out.uri), ("reason", left_out.reason.to_string())]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

pub(crate) async fn register(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    state.rate_limits.check(Limited::Registration, &request)?;
    require_permission(&state, &request)?;
    let ClientRequest(Registration { requested, .. }) = body.only_json()?;
    let cause = state.cause(&request, Actor::Client);
    let management = state.context.management_for(&cause);
    let registered = register_client(management, requested, ClientOrigin::SelfRegistered).await?;
    state.metrics.clients_registered.count();
    let mut answer = ClientBody::of(&state, registered.client, registered.left_out);
    answer.client_secret = registered.secret.map(|secret| secret.expose().to_owned());
    answer.registration_access_token = Some(registered.registration_token.expose().to_owned());
    Ok(HttpResponse::Created().json(answer))
}

pub(crate) async fn read(
    state: Data<AppState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let token = registration_token(&request)?;
    let client = read_client(&state.context, &id, &token).await.map_err(with_bearer_challenge)?;
    Ok(HttpResponse::Ok().json(ClientBody::of(&state, client, Vec::new())))
}

/// Replaces a client's registration. Its id and its secret stay the same.
pub(crate) async fn update(
    state: Data<AppState>,
    request: HttpRequest,
    id: Path<String>,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let token = registration_token(&request)?;
    let ClientRequest(sent) = body.only_json()?;
    let secret = sent.client_secret.map(Secret::new);
    if sent.client_id.as_ref().is_some_and(|client_id| *client_id != *id) {
        return Err(ApiError::invalid_request("client_id differs from the one in the path"));
    }
    let (cause, requested) = (state.cause(&request, Actor::Client), sent.requested);
    let UpdatedClient { client, left_out } =
        update_client(&state.context, &cause, &id, &token, secret.as_ref(), requested)
            .await
            .map_err(with_bearer_challenge)?;
    Ok(HttpResponse::Ok().json(ClientBody::of(&state, client, left_out)))
}

/// Deletes a client and every grant that people gave it.
pub(crate) async fn delete(
    state: Data<AppState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let token = registration_token(&request)?;
    let cause = state.cause(&request, Actor::Client);
    delete_client(&state.context, &cause, &id, &token).await.map_err(with_bearer_challenge)?;
    Ok(HttpResponse::NoContent().finish())
}

fn require_permission(state: &AppState, request: &HttpRequest) -> Result<(), ApiError> {
    match &state.registration {
        settings::Registration::Open => Ok(()),
        settings::Registration::Closed => {
            let error =
                ApiError::new(OAuthErrorCode::AccessDenied, "registration is closed: ask the operator");
            Err(error.with_status(StatusCode::FORBIDDEN))
        }
        settings::Registration::Token(expected) => {
            let presented = bearer::from_header(request)?.ok_or_else(bearer::missing)?;
            if expected.is_some_and(|expected| expected.admits(&presented)) {
                return Ok(());
            }
            let error = ApiError::new(OAuthErrorCode::InvalidToken, "initial access token is not valid")
                .logged_as(RefusedFor::RegistrationToken);
            Err(bearer::challenge(error))
        }
    }
}

fn registration_token(request: &HttpRequest) -> Result<Secret, ApiError> {
    bearer::from_header(request)?.ok_or_else(bearer::missing)
}

fn with_bearer_challenge(error: impl Into<ApiError>) -> ApiError {
    let error = error.into();
    if error.error.code == OAuthErrorCode::InvalidToken { bearer::challenge(error) } else { error }
}

impl ClientBody {
    fn of(state: &AppState, client: Client, left_out: Vec<LeftOut>) -> Self {
        let id = client.id.to_string();
        let path = format!("/oauth/clients/{id}");
        Self {
            client_id: id,
            client_secret: None,
            redirect_uris_left_out: left_out.into_iter().map(left_out_body).collect(),
            backchannel_logout_session_required: client
                .metadata
                .backchannel_logout_uri
                .is_some()
                .then_some(true),
            created_at: iso8601(client.created_at),
            client_id_issued_at: client.created_at.unix_timestamp(),
            client_secret_expires_at: 0,
            registration_client_uri: state.context.policy.public_url.join(&path),
            registration_access_token: None,
            registered: Registered(RegisteredView(client)),
        }
    }
}
