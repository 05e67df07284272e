//! `POST /oauth/introspect`: whether a token is valid, and what it is for (RFC 7662). It takes a form or
//! JSON, like `/oauth/revoke`.

pub(crate) mod description;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::grant::TokenSubject;
use countersign_domain::group::GroupName;
use countersign_domain::id::SubjectId;
use countersign_domain::secret::Secret;
use countersign_usecases::tokens::introspect_token::{TokenFacts, introspect_token};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::steps::client_credentials::{self, in_body};
use crate::error::ApiError;
use crate::extract::body::{Body, present, required};
use crate::state::AppState;

/// The token to look up, and the client that asks.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct IntrospectionRequest {
    /// An access token or a refresh token.
    token: Option<String>,
    /// The client's id, unless it is in HTTP Basic.
    client_id: Option<String>,
    /// The client's secret, unless it is in HTTP Basic.
    client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client signs an assertion.
    client_assertion_type: Option<String>,
    /// The assertion: a JWT that the client signed.
    client_assertion: Option<String>,
}

/// What the server says about a token. If the token is not valid, or is none of the client's business, the
/// only field is `active`.
#[derive(Default, Serialize, Apiv2Schema)]
pub(crate) struct IntrospectionBody {
    /// Whether the token is valid.
    active: bool,
    /// The granted scopes, separated by spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    /// Those of the user's groups that the operator releases to the client of the token, sorted, with scope
    /// `groups`. They are those of now; the list may be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<String>>,
    /// The client that the token was issued to.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// The name that this server shows for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    /// The user's id, as the client of the token knows it, or the client's id if the client got the token for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<String>,
    /// When the token expires, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
    /// When it was issued, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    iat: Option<i64>,
    /// The issuer.
    #[serde(skip_serializing_if = "Option::is_none")]
    iss: Option<String>,
    /// The audience of an access token: a string or a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    aud: Option<serde_json::Value>,
    /// How to present an access token: `Bearer`, or `DPoP` if it is bound to a key. Left out for refresh
    /// tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_type: Option<&'static str>,
    /// The token's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    jti: Option<String>,
    /// The key that the token is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<ConfirmationBody>,
}

/// The key that a token is bound to (RFC 9449 section 6.2).
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct ConfirmationBody {
    /// The SHA-256 thumbprint of the key.
    jkt: String,
}

pub(crate) async fn introspect(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let facts = handle(&state, &request, &body)
        .await
        .map_err(|error| client_credentials::refuse_strictly(&state, &request, &body, error))?;
    let issuer = state.context.policy.public_url.as_str();
    Ok(HttpResponse::Ok()
        .json(facts.map_or_else(IntrospectionBody::default, |facts| facts_of(facts, issuer))))
}

async fn handle(
    state: &AppState,
    request: &HttpRequest,
    body: &Body,
) -> Result<Option<TokenFacts>, ApiError> {
    let sent: IntrospectionRequest = body.either()?;
    let token = required(present(sent.token).map(Secret::new), "token")?;
    let credentials = client_credentials::join(request, in_body!(sent))?;
    let credentials = credentials.ok_or_else(|| {
        ApiError::new(OAuthErrorCode::InvalidClient, "only clients with credentials may introspect")
    })?;
    Ok(introspect_token(&state.context, &credentials, &token).await?)
}

/// The name of the token's subject. A client that got a token for itself has a name of the same form.
fn username_of(subject: TokenSubject) -> String {
    let id = match subject {
        TokenSubject::Person(subject) => subject,
        TokenSubject::Client(client) => SubjectId::from_uuid(client.as_uuid()),
    };
    id.preferred_username()
}

fn facts_of(facts: TokenFacts, issuer: &str) -> IntrospectionBody {
    let is_access = facts.audience.is_some();
    let token_type = if facts.key.is_some() { "DPoP" } else { "Bearer" };
    IntrospectionBody {
        active: true,
        scope: Some(facts.scope.to_string()),
        groups: facts.groups.map(|groups| groups.iter().map(GroupName::to_string).collect()),
        client_id: Some(facts.client),
        username: Some(username_of(facts.subject)),
        sub: Some(facts.subject.to_string()),
        exp: Some(facts.expires_at.unix_timestamp()),
        iat: Some(facts.issued_at.unix_timestamp()),
        iss: Some(issuer.to_owned()),
        aud: facts.audience.map(|audience| match <[String; 1]>::try_from(audience) {
            Ok([only]) => only.into(),
            Err(several) => several.into(),
        }),
        token_type: is_access.then_some(token_type),
        jti: Some(facts.id.to_string()),
        cnf: facts.key.map(|key| ConfirmationBody { jkt: key.to_string() }),
    }
}
