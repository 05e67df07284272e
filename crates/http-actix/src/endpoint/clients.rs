//! `/oauth/clients`: clients register (RFC 7591) and manage their registration (RFC 7592).

pub(crate) mod description;

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::iso8601;
use countersign_domain::client::{Client, ClientOrigin, DisplayMetadata};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::grant_type::{GrantType, RESPONSE_TYPE_CODE};
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::registration::RequestedMetadata;
use countersign_domain::secret::Secret;
use countersign_usecases::clients::delete_client::delete_client;
use countersign_usecases::clients::read_client::read_client;
use countersign_usecases::clients::register_client::register_client;
use countersign_usecases::clients::update_client::update_client;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::extract::bearer;
use crate::extract::body::Body;
use crate::limits::rate_limit::Limited;
use crate::settings::Registration;
use crate::state::AppState;

/// The metadata that a client registers.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct ClientRequest {
    /// For an update: the client's own id, if it is sent.
    client_id: Option<String>,
    /// For an update: the client's own secret, if it is sent. A client cannot choose its secret.
    client_secret: Option<String>,
    /// The name that people see: 1 to 100 characters.
    client_name: Option<String>,
    /// Where people may be sent back to: 1 to 20 URIs, or none if `grant_types` does not have
    /// `authorization_code`.
    redirect_uris: Option<Vec<String>>,
    /// The client's home page.
    client_uri: Option<String>,
    /// Its logo.
    logo_uri: Option<String>,
    /// The scopes that it may request; `profile` by default.
    scopes: Option<Vec<String>>,
    /// The same as `scopes` in the form of RFC 7591: one string, separated by spaces.
    scope: Option<String>,
    /// Only `code`.
    response_types: Option<Vec<String>>,
    /// `authorization_code` and `refresh_token` by default.
    grant_types: Option<Vec<String>>,
    /// `client_secret_post` by default.
    token_endpoint_auth_method: Option<String>,
    /// Only `public`.
    subject_type: Option<String>,
    /// How to reach the people who are responsible for the client.
    contacts: Option<Vec<String>>,
    /// Terms of service.
    tos_uri: Option<String>,
    /// Privacy policy.
    policy_uri: Option<String>,
    /// Its keys.
    jwks: Option<BTreeMap<String, serde_json::Value>>,
    /// Where its keys are.
    jwks_uri: Option<String>,
    /// `web` or `native`.
    application_type: Option<String>,
    /// The algorithm that signs its ID tokens.
    id_token_signed_response_alg: Option<String>,
    /// The algorithm that signs the client's assertions.
    token_endpoint_auth_signing_alg: Option<String>,
    /// Where people may go after signing out.
    post_logout_redirect_uris: Option<Vec<String>>,
    /// Where the client is told that a sign-in ended.
    backchannel_logout_uri: Option<String>,
    /// Whether its authorization requests must be pushed (RFC 9126).
    require_pushed_authorization_requests: Option<bool>,
    /// Whether its access tokens must be bound to a key (DPoP).
    dpop_bound_access_tokens: Option<bool>,
}

/// A registered client.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct ClientBody {
    /// The identifier.
    client_id: String,
    /// The secret. Only in the response to the registration, and not for public clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    /// The name that people see.
    client_name: String,
    /// Where people may be sent back to.
    redirect_uris: Vec<String>,
    /// The client's home page.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_uri: Option<String>,
    /// Its logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    logo_uri: Option<String>,
    /// The scopes that it may request.
    scopes: Vec<String>,
    /// The same as `scopes` in the form of RFC 7591: one string, separated by spaces.
    scope: String,
    /// `code`, or nothing for a client without `authorization_code`.
    response_types: Vec<&'static str>,
    /// The grant types that it may use.
    grant_types: Vec<&'static str>,
    /// How it authenticates at the token endpoint.
    token_endpoint_auth_method: &'static str,
    /// How to reach the people who are responsible for the client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contacts: Vec<String>,
    /// Its terms of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    tos_uri: Option<String>,
    /// Its privacy policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_uri: Option<String>,
    /// Its keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks: Option<BTreeMap<String, serde_json::Value>>,
    /// Where its keys are.
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks_uri: Option<String>,
    /// `web` or `native`.
    #[serde(skip_serializing_if = "Option::is_none")]
    application_type: Option<String>,
    /// The algorithm that signs its ID tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token_signed_response_alg: Option<String>,
    /// The algorithm that signs the client's assertions.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_endpoint_auth_signing_alg: Option<String>,
    /// Where people may go after signing out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    post_logout_redirect_uris: Vec<String>,
    /// Where the client is told that a sign-in ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    backchannel_logout_uri: Option<String>,
    /// Always true if there is a `backchannel_logout_uri`: logout tokens always name the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    backchannel_logout_session_required: Option<bool>,
    /// Whether its authorization requests must be pushed (RFC 9126).
    #[serde(skip_serializing_if = "Option::is_none")]
    require_pushed_authorization_requests: Option<bool>,
    /// Whether its access tokens must be bound to a key (DPoP).
    #[serde(skip_serializing_if = "Option::is_none")]
    dpop_bound_access_tokens: Option<bool>,
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

pub(crate) async fn register(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    state.rate_limits.check(Limited::Registration, &request)?;
    require_permission(&state, &request)?;
    let requested = body.only_json::<ClientRequest>()?.into_requested();
    let registered =
        register_client(state.context.management(), requested, ClientOrigin::SelfRegistered).await?;
    state.metrics.clients_registered.count();
    let mut answer = ClientBody::of(&state, registered.client);
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
    Ok(HttpResponse::Ok().json(ClientBody::of(&state, client)))
}

/// Replaces a client's registration. Its id and its secret stay the same.
pub(crate) async fn update(
    state: Data<AppState>,
    request: HttpRequest,
    id: Path<String>,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let token = registration_token(&request)?;
    let mut sent = body.only_json::<ClientRequest>()?;
    let secret = sent.client_secret.take().map(Secret::new);
    if sent.client_id.as_ref().is_some_and(|client_id| *client_id != *id) {
        return Err(ApiError::invalid_request("client_id differs from the one in the path"));
    }
    let client = update_client(&state.context, &id, &token, secret.as_ref(), sent.into_requested())
        .await
        .map_err(with_bearer_challenge)?;
    Ok(HttpResponse::Ok().json(ClientBody::of(&state, client)))
}

/// Deletes a client and every grant that people gave it.
pub(crate) async fn delete(
    state: Data<AppState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let token = registration_token(&request)?;
    delete_client(&state.context, &id, &token).await.map_err(with_bearer_challenge)?;
    Ok(HttpResponse::NoContent().finish())
}

fn require_permission(state: &AppState, request: &HttpRequest) -> Result<(), ApiError> {
    match &state.registration {
        Registration::Open => Ok(()),
        Registration::Closed => {
            let error =
                ApiError::new(OAuthErrorCode::AccessDenied, "registration is closed: ask the operator");
            Err(error.with_status(StatusCode::FORBIDDEN))
        }
        Registration::Token(expected) => {
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

impl ClientRequest {
    fn into_requested(self) -> RequestedMetadata {
        RequestedMetadata {
            client_name: self.client_name,
            redirect_uris: self.redirect_uris,
            scopes: self.scopes,
            scope: self.scope,
            response_types: self.response_types,
            grant_types: self.grant_types,
            token_endpoint_auth_method: self.token_endpoint_auth_method,
            subject_type: self.subject_type,
            backchannel_logout_uri: self.backchannel_logout_uri,
            require_pushed_authorization_requests: self.require_pushed_authorization_requests,
            dpop_bound_access_tokens: self.dpop_bound_access_tokens,
            display: DisplayMetadata {
                client_uri: self.client_uri,
                logo_uri: self.logo_uri,
                tos_uri: self.tos_uri,
                policy_uri: self.policy_uri,
                contacts: self.contacts.unwrap_or_default(),
                jwks: self.jwks.map(|keys| serde_json::Value::from_iter(keys).to_string()),
                jwks_uri: self.jwks_uri,
                application_type: self.application_type,
                id_token_signed_response_alg: self.id_token_signed_response_alg,
                token_endpoint_auth_signing_alg: self.token_endpoint_auth_signing_alg,
                post_logout_redirect_uris: self.post_logout_redirect_uris.unwrap_or_default(),
            },
        }
    }
}

impl ClientBody {
    fn of(state: &AppState, client: Client) -> Self {
        let id = client.id.to_string();
        let path = format!("/oauth/clients/{id}");
        let is_redirected = client.may_use(GrantType::AuthorizationCode);
        let metadata = client.metadata;
        let display = metadata.display;
        Self {
            client_id: id,
            client_secret: None,
            client_name: metadata.name,
            redirect_uris: metadata.redirect_uris.iter().map(RedirectUri::to_string).collect(),
            client_uri: display.client_uri,
            logo_uri: display.logo_uri,
            scopes: metadata.scopes.names().map(str::to_owned).collect(),
            scope: metadata.scopes.to_string(),
            response_types: if is_redirected { vec![RESPONSE_TYPE_CODE] } else { Vec::new() },
            grant_types: metadata.grant_types.iter().map(|grant_type| grant_type.name()).collect(),
            token_endpoint_auth_method: client.authentication.method(),
            contacts: display.contacts,
            tos_uri: display.tos_uri,
            policy_uri: display.policy_uri,
            jwks: display.jwks.and_then(|jwks| serde_json::from_str(&jwks).ok()),
            jwks_uri: display.jwks_uri,
            application_type: display.application_type,
            id_token_signed_response_alg: display.id_token_signed_response_alg,
            token_endpoint_auth_signing_alg: display.token_endpoint_auth_signing_alg,
            post_logout_redirect_uris: display.post_logout_redirect_uris,
            backchannel_logout_session_required: metadata.backchannel_logout_uri.is_some().then_some(true),
            backchannel_logout_uri: metadata.backchannel_logout_uri,
            require_pushed_authorization_requests: metadata.requires_pushed_requests.then_some(true),
            dpop_bound_access_tokens: metadata.requires_bound_tokens.then_some(true),
            created_at: iso8601(client.created_at),
            client_id_issued_at: client.created_at.unix_timestamp(),
            client_secret_expires_at: 0,
            registration_client_uri: state.context.policy.public_url.join(&path),
            registration_access_token: None,
        }
    }
}
