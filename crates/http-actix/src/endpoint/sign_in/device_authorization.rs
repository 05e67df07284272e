//! `POST /oauth/device_authorization`: a device asks for a sign-in that happens on another device (RFC 8628).

pub(crate) mod description;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::device::{DEVICE_PAGE, INTERVAL};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::resource::with_audience;
use countersign_usecases::sign_in::begin_device::{DeviceAsks, DeviceWaits, begin_device};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::endpoint::steps::client_credentials::{self, in_body};
use crate::error::ApiError;
use crate::extract::body::Body;
use crate::state::AppState;

/// The client that the device runs, and what it asks for.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct DeviceForm {
    /// The client's id, unless it is in HTTP Basic.
    client_id: Option<String>,
    /// The client's secret, unless it is in HTTP Basic or the client is public.
    client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client signs an assertion.
    client_assertion_type: Option<String>,
    /// The assertion: a JWT that the client signed.
    client_assertion: Option<String>,
    /// The scopes, separated by spaces. By default all that the client registered.
    scope: Option<String>,
    /// Another word for `resource`, with one value.
    audience: Option<String>,
}

/// The code that the device shows, and the code that it polls with.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct DeviceBody {
    /// What the device sends to the token endpoint.
    device_code: String,
    /// What the device shows to the person.
    user_code: String,
    /// Where the person types the user code.
    verification_uri: String,
    /// The same URL with the user code in it, for a QR code.
    verification_uri_complete: String,
    /// The lifetime of both codes in seconds.
    expires_in: i64,
    /// How many seconds the device must wait between two polls.
    interval: u32,
}

/// Begins a device authorization.
pub(crate) async fn begin(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let waits = handle(&state, &request, &body)
        .await
        .map_err(|error| client_credentials::refuse_strictly(&state, &request, &body, error))?;
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
    let resources = with_audience(resources, form.audience.as_deref()).map_err(ApiError::from_error)?;
    let credentials = client_credentials::join_counted(state, request, in_body!(form))?;
    Ok(begin_device(&state.context, DeviceAsks { credentials, scope: form.scope, resources }).await?)
}
