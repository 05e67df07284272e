//! `POST /oauth/device_authorization`: a device asks to be signed in elsewhere (RFC 8628).

pub(crate) mod description;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::device::{DEVICE_PAGE, INTERVAL};
use countersign_domain::error::OAuthErrorCode;
use countersign_usecases::sign_in::begin_device::{DeviceAsks, DeviceWaits, begin_device};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::steps::client_credentials::{self, in_body};
use crate::error::ApiError;
use crate::extract::body::Body;
use crate::state::AppState;

/// Which client the device runs, and what it asks for.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct DeviceForm {
    /// The client, unless HTTP Basic names it.
    client_id: Option<String>,
    /// Its secret, unless HTTP Basic carries it or the client is public.
    client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with a client that signs.
    client_assertion_type: Option<String>,
    /// What such a client signed: a JWT.
    client_assertion: Option<String>,
    /// The scopes, separated by spaces; without it all that the client registered.
    scope: Option<String>,
}

/// What the device shows, and what it asks with.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct DeviceBody {
    /// What the device sends to the token endpoint.
    device_code: String,
    /// What it shows.
    user_code: String,
    /// Where a person types that.
    verification_uri: String,
    /// The same with the code in it, for a QR code.
    verification_uri_complete: String,
    /// For how many seconds the codes are good.
    expires_in: i64,
    /// How many seconds the device lets pass between two questions.
    interval: u32,
}

/// Has a device wait.
pub(crate) async fn begin(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let waits = handle(&state, &request, &body)
        .await
        .map_err(|error| client_credentials::refuse_strictly(&state, &request, error))?;
    let verification_uri = state.context.policy.public_url.join(DEVICE_PAGE);
    let user_code = waits.user_code.to_string();
    Ok(HttpResponse::Ok().json(DeviceBody {
        device_code: waits.device_code.expose().to_owned(),
        verification_uri_complete: format!("{verification_uri}?user_code={user_code}"),
        verification_uri,
        user_code,
        expires_in: waits.expires_in,
        interval: INTERVAL,
    }))
}

async fn handle(state: &AppState, request: &HttpRequest, body: &Body) -> Result<DeviceWaits, ApiError> {
    body.require_form(OAuthErrorCode::InvalidRequest)?;
    let (form, resources): (DeviceForm, _) = body.form_with_several("resource")?;
    let credentials = client_credentials::join_counted(state, request, in_body!(form))?;
    Ok(begin_device(&state.context, DeviceAsks { credentials, scope: form.scope, resources }).await?)
}
