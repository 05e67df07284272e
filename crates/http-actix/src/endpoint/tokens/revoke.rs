//! `POST /oauth/revoke`: a token ends (RFC 7009), by form or in the specification's JSON.

pub(crate) mod description;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::secret::Secret;
use countersign_usecases::tokens::revoke_token::{RevokeToken, revoke_token};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::steps::client_credentials::{self, in_body};
use crate::error::ApiError;
use crate::extract::body::{Body, present, required};
use crate::state::AppState;

/// Which token ends.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct RevokeRequest {
    /// An access token or a refresh token.
    token: Option<String>,
    /// The client, unless HTTP Basic names it.
    client_id: Option<String>,
    /// Its secret, unless HTTP Basic carries it or the client is public.
    client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with a client that signs.
    client_assertion_type: Option<String>,
    /// What such a client signed: a JWT.
    client_assertion: Option<String>,
}

/// An empty object: the token is not good any more, whatever it was.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct RevokeAnswer {}

/// Revokes a token.
pub(crate) async fn revoke(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    handle(&state, &request, &body)
        .await
        .map_err(|error| client_credentials::refuse(&state, &request, error))?;
    Ok(HttpResponse::Ok().json(RevokeAnswer {}))
}

async fn handle(state: &AppState, request: &HttpRequest, body: &Body) -> Result<(), ApiError> {
    let sent: RevokeRequest = body.either()?;
    let token = required(present(sent.token).map(Secret::new), "token")?;
    let credentials = required(client_credentials::join(request, in_body!(sent))?, "client_id")?;
    revoke_token(&state.context, RevokeToken { credentials, token }).await.map_err(|error| {
        let error = ApiError::from(error);
        // The 422 for a missing field is the token endpoint's alone.
        if error.error.code == OAuthErrorCode::IncompleteForm {
            return error.with_status(StatusCode::BAD_REQUEST);
        }
        error
    })
}
