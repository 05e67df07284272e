//! `/device`: the page where a person types the code that a device shows, and the page that they see after
//! answering.

pub(crate) mod description;

use actix_session::Session;
use actix_web::http::{StatusCode, header};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::refusal::RefusedFor;
use countersign_usecases::sign_in::find_device::find_device;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::browser::forms::Action;
use crate::endpoint::sign_in::authorize;
use crate::error::ApiError;
use crate::extract::body::{Body, required};
use crate::extract::query_value;
use crate::limits::rate_limit::Limited;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::state::AppState;

/// The code that a device shows.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct DeviceCodeForm {
    /// Eight letters; case, spaces and hyphens do not matter.
    user_code: Option<String>,
    /// The secret of the page's form.
    form: Option<String>,
}

#[derive(Serialize)]
struct PageContext<'a> {
    /// The value of the field.
    user_code: &'a str,
    /// Is no device waiting with this code?
    wrong: bool,
    /// The secret of the form.
    form: String,
}

#[derive(Serialize)]
struct DoneContext {
    denied: bool,
}

/// Shows the page. A code in the URL is only filled in and not sent, because someone else may have made that
/// URL.
pub(crate) async fn show(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    let user_code = query_value(&request, "user_code").map_err(ApiError::always_as_page)?.unwrap_or_default();
    let forms = state.forms(&request).with_new(&session, &*state.context.entropy)?;
    let form = forms.secret(&Action::EnterDeviceCode);
    page(&state, &request, &PageContext { user_code: &user_code, wrong: false, form }, StatusCode::OK)
}

/// Takes a code, and goes on to the page that asks about the device's request.
pub(crate) async fn enter(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    state.admit(&request, Limited::UserCode)?;
    body.require_form(OAuthErrorCode::InvalidRequest)?;
    let sent: DeviceCodeForm = body.form()?;
    let forms = state.forms(&request).with(&session);
    forms.require(&Action::EnterDeviceCode, sent.form.as_deref())?;
    let user_code = required(sent.user_code, "user_code")?;
    let Some(pending) = find_device(&state.context, &user_code).await? else {
        let error =
            ApiError::invalid_request("no device waits for this code").logged_as(RefusedFor::UserCode);
        state.log_refusal(&request, &error, None);
        let context =
            PageContext { user_code: &user_code, wrong: true, form: forms.secret(&Action::EnterDeviceCode) };
        return page(&state, &request, &context, StatusCode::BAD_REQUEST);
    };
    let to = authorize::wait(&state, &session, pending).map_err(ApiError::server_error)?;
    Ok(HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish())
}

/// Says that the person is done here.
pub(crate) async fn done(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let done = query_value(&request, "done").map_err(ApiError::always_as_page)?;
    let context = DoneContext { denied: done.as_deref() == Some("denied") };
    state.pages.show(&request, Language::of(&request, None), Name::DeviceDone, StatusCode::OK, &context)
}

fn page(
    state: &AppState,
    request: &HttpRequest,
    context: &PageContext<'_>,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    state.pages.show(request, Language::of(request, None), Name::Device, status, context)
}
