//! `POST /oauth/par`: a client pushes an authorization request (RFC 9126).

pub(crate) mod description;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::parameters::Parameters;
use countersign_usecases::sign_in::push_authorization::{Pushed, push_authorization};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::steps::client_credentials::{self, in_body};
use crate::endpoint::steps::dpop;
use crate::error::ApiError;
use crate::extract::body::Body;
use crate::state::AppState;

/// The client credentials. Every other field belongs to the authorization request.
#[derive(Deserialize)]
struct PushForm {
    client_id: Option<String>,
    client_secret: Option<String>,
    client_assertion_type: Option<String>,
    client_assertion: Option<String>,
}

/// What the browser sends in place of the request.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct PushedBody {
    /// The reference to the request. It works once, and only for this client.
    request_uri: String,
    /// The lifetime of the reference in seconds.
    expires_in: i64,
}

/// Stores a request until the browser comes with its reference.
pub(crate) async fn push(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let Pushed { request_uri, expires_in } = handle(&state, &request, &body)
        .await
        .map_err(|error| client_credentials::refuse_strictly(&state, &request, &body, error))
        .map_err(|error| dpop::refuse(&state, &request, error))?;
    let response = HttpResponse::Created().json(PushedBody { request_uri, expires_in });
    Ok(dpop::answer(&state, &request, response))
}

async fn handle(state: &AppState, request: &HttpRequest, body: &Body) -> Result<Pushed, ApiError> {
    body.require_form(OAuthErrorCode::InvalidRequest)?;
    let (form, _): (PushForm, _) = body.form_with_several("resource")?;
    let credentials = client_credentials::join_counted(state, request, in_body!(form))?;
    let parameters = Parameters::new(body.pairs()?);
    let proof = dpop::proof(request)?;
    Ok(push_authorization(&state.context, &credentials, &parameters, proof.as_deref()).await?)
}
