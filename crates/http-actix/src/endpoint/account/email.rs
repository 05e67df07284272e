//! The e-mail address on the account page, and the page behind the link that confirms it. That link is opened by mail
//! scanners too, so that only the button on the page does anything.

use actix_web::http::{StatusCode, header};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::secret::Secret;
use countersign_usecases::change_email::{ChangeEmailError, put_email, remove_email};
use countersign_usecases::confirm_email::{ConfirmEmailError, confirm_email};
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use super::notice::{Done, Trouble};
use super::page::Step;
use super::{back, refuse, show_again};
use crate::edge::prefers_html;
use crate::error::ApiError;
use crate::extract::body::{Body, required};
use crate::extract::query_value;
use crate::language::Language;
use crate::mail;
use crate::origin::require_ours;
use crate::rate_limit::Limited;
use crate::state::AppState;
use crate::templates::Name;

/// An address that goes on file.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct EmailRequest {
    /// The address. The one that is on file is mailed a new link.
    email: Option<String>,
}

/// The link that a person followed.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct ConfirmEmailRequest {
    /// The secret in the link.
    token: Option<String>,
}

#[derive(Serialize)]
struct LinkPage<'a> {
    step: &'static str,
    token: Option<&'a str>,
}

/// Puts an address on file, and mails the link that confirms it.
pub(crate) async fn put(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    state.admit(&request, Limited::Mail)?;
    let sent: EmailRequest = body.either()?;
    let address = sent.email.unwrap_or_default();
    let changed = match put_email(&state.context, &state.browser(&request), &address).await {
        Ok(changed) => changed,
        Err(ChangeEmailError::Account(error)) => return refuse(&state, &request, error),
        Err(error @ ChangeEmailError::Email(_)) => {
            let step = Step { email: Some(&address), ..Step::trouble(Trouble::BadEmail) };
            return show_again(&state, &request, error.into(), step).await;
        }
    };
    let done = match (&changed.link, changed.already_verified) {
        (Some(_), _) => Done::LinkSent,
        (None, true) => Done::EmailKept,
        (None, false) => Done::EmailAdded,
    };
    mail::send_link(&state, Language::of(&request, None), changed.link);
    Ok(back(&state, Some(done)))
}

/// Takes the address off file.
pub(crate) async fn remove(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    require_ours(&request, &state.context.policy.public_url)?;
    match remove_email(&state.context, &state.browser(&request)).await {
        Ok(_) => Ok(back(&state, Some(Done::EmailRemoved))),
        Err(error) => refuse(&state, &request, error),
    }
}

/// Shows the page behind the link, which changes nothing.
pub(crate) async fn ask(state: Data<AppState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let token = query_value(&request, "token").map_err(ApiError::always_as_page)?;
    let done = query_value(&request, Done::PARAMETER).map_err(ApiError::always_as_page)?;
    let token = token.filter(|token| Secret::new(token.as_ref()).id().is_some());
    match (&token, done) {
        (Some(token), _) => page(&state, &request, "ask", Some(token), StatusCode::OK),
        (None, Some(_)) => page(&state, &request, "confirmed", None, StatusCode::OK),
        (None, None) => page(&state, &request, "invalid", None, StatusCode::BAD_REQUEST),
    }
}

/// Confirms the address that the link was mailed to.
pub(crate) async fn confirm(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    state.admit(&request, Limited::Login)?;
    let sent: ConfirmEmailRequest = body.either()?;
    let secret = Secret::new(required(sent.token, "token")?);
    match confirm_email(&state.context, &secret).await {
        Ok(()) => {
            let base = state.context.policy.public_url.path();
            let to = format!("{base}/account/email/confirm?done=email_confirmed");
            Ok(HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish())
        }
        Err(ConfirmEmailError::LinkInvalid) if prefers_html(&request) => {
            page(&state, &request, "invalid", None, StatusCode::BAD_REQUEST)
        }
        Err(error) => Err(error.into()),
    }
}

fn page(
    state: &AppState,
    request: &HttpRequest,
    step: &'static str,
    token: Option<&str>,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    let language = Language::of(request, None);
    state.page(request, language, Name::AccountEmail, status, &LinkPage { step, token })
}
