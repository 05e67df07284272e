//! `POST /oauth/introspect`: what a token is worth (RFC 7662), by form or in JSON as at `/oauth/revoke`.

pub(crate) mod description;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::grant::Subject;
use countersign_domain::id::UserId;
use countersign_domain::secret::Secret;
use countersign_usecases::tokens::introspect_token::{TokenFacts, introspect_token};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::steps::client_credentials::{self, in_body};
use crate::error::ApiError;
use crate::extract::body::{Body, present, required};
use crate::state::AppState;

/// Which token is meant.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct IntrospectionRequest {
    /// An access token or a refresh token.
    token: Option<String>,
    /// The client, unless HTTP Basic names it.
    client_id: Option<String>,
    /// Its secret, unless HTTP Basic carries it.
    client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with a client that signs.
    client_assertion_type: Option<String>,
    /// What such a client signed: a JWT.
    client_assertion: Option<String>,
}

/// What a token is worth. Of one that is not good, or not the client's business, nothing but `active` is told.
#[derive(Default, Serialize, Apiv2Schema)]
pub(crate) struct IntrospectionBody {
    /// Is the token good?
    active: bool,
    /// What it reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    /// Whose token it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// The name that we show for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    /// The user.
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<String>,
    /// When it stops being good, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
    /// When it was issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    iat: Option<i64>,
    /// Who issued it.
    #[serde(skip_serializing_if = "Option::is_none")]
    iss: Option<String>,
    /// What an access token is for: one text, or a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    aud: Option<serde_json::Value>,
    /// How an access token is presented: `Bearer`, or `DPoP` if it is bound to a key. Refresh tokens have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_type: Option<&'static str>,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    jti: Option<String>,
    /// The key that it is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<ConfirmationBody>,
}

/// A key (RFC 9449 section 6.2).
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct ConfirmationBody {
    /// Its SHA-256 thumbprint.
    jkt: String,
}

/// Tells what a token is worth.
pub(crate) async fn introspect(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let facts = handle(&state, &request, &body)
        .await
        .map_err(|error| client_credentials::refuse_strictly(&state, &request, error))?;
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

/// The name of whoever the token is about. Clients that got a token for themselves always had one of the same form.
fn username_of(subject: Subject) -> String {
    let id = match subject {
        Subject::Person(user) => user.as_uuid(),
        Subject::Client(client) => client.as_uuid(),
    };
    UserId::from_uuid(id).preferred_username()
}

fn facts_of(facts: TokenFacts, issuer: &str) -> IntrospectionBody {
    let is_access = facts.audience.is_some();
    let token_type = if facts.key.is_some() { "DPoP" } else { "Bearer" };
    IntrospectionBody {
        active: true,
        scope: Some(facts.scope.to_string()),
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
