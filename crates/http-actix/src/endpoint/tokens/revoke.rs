//! `POST /oauth/revoke`: a client revokes a token (RFC 7009), by a form or by the JSON of the project's
//! specification.

pub(crate) mod description;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::event::Actor;
use countersign_domain::secret::Secret;
use countersign_usecases::tokens::revoke_token::{RevokeToken, revoke_token};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::steps::client_credentials::{self, in_body};
use crate::error::ApiError;
use crate::extract::body::{Body, present, required};
use crate::state::AppState;

/// The token to revoke, and the client that asks.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct RevokeRequest {
    /// An access token or a refresh token.
    token: Option<String>,
    /// The client's id, unless it is in HTTP Basic.
    client_id: Option<String>,
    /// The client's secret, unless it is in HTTP Basic or the client is public.
    client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client signs an assertion.
    client_assertion_type: Option<String>,
    /// The assertion: a JWT that the client signed.
    client_assertion: Option<String>,
}

/// An empty object: whatever the token was, it is not valid anymore.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct RevokeAnswer {}

pub(crate) async fn revoke(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    handle(&state, &request, &body)
        .await
        .map_err(|error| client_credentials::refuse(&state, &request, &body, error))?;
    Ok(HttpResponse::Ok().json(RevokeAnswer {}))
}

async fn handle(state: &AppState, request: &HttpRequest, body: &Body) -> Result<(), ApiError> {
    let sent: RevokeRequest = body.either()?;
    let token = required(present(sent.token).map(Secret::new), "token")?;
    let credentials = required(client_credentials::join(request, in_body!(sent))?, "client_id")?;
    let cause = state.cause(request, Actor::Client);
    revoke_token(&state.context, &cause, RevokeToken { credentials, token }).await.map_err(|error| {
        let error = ApiError::from(error);
        // Only the token endpoint answers with 422 for a missing field.
        if error.error.code == OAuthErrorCode::IncompleteForm {
            return error.with_status(StatusCode::BAD_REQUEST);
        }
        error
    })
}
