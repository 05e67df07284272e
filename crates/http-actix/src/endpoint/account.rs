//! `/account`: what a person has here, and what they change of it. Everything works by forms: each is answered with the page
//! again, which says what was done. Whoever is not signed in is sent to the sign-in page first, and comes back.

pub(crate) mod data;
pub(crate) mod description;
pub(crate) mod email;
pub(crate) mod forms;
mod page;
pub(crate) mod pictures;
mod trouble;
pub(crate) mod wallets;

use actix_session::Session;
use actix_web::http::{StatusCode, header};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::pending::PendingAuthorization;
use countersign_usecases::Policy;
use countersign_usecases::account::read_account::read_account;
use countersign_usecases::steps::login::AccountError;
use paperclip::actix::Apiv2Schema;
use serde::Deserialize;
use time::OffsetDateTime;

pub(crate) use page::kind_of;

use crate::browser::forms::Action;
use crate::endpoint::sign_in::authorize::wait;
use crate::endpoint::steps::done::Done;
use crate::endpoint::steps::farewell::{Farewell, signed_out};
use crate::error::ApiError;
use crate::extract::accept::prefers_html;
use crate::extract::body::Body;
use crate::extract::origin::require_ours;
use crate::page::language::Language;
use crate::state::AppState;
use page::Step;
use trouble::Trouble;

/// Shows the page, or leads to the sign-in.
pub(crate) async fn show(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    let done = Done::of(&request, &state.context.policy.public_url);
    match read_account(&state.context, &state.browser(&request)).await {
        Ok(shown) => {
            let step = Step { done, ..Step::default() };
            page::render(&state, &request, &shown, step, StatusCode::OK)
        }
        Err(AccountError::SignedOut) => match done.filter(|done| done.may_end_the_session()) {
            Some(done) => signed_out(&state, &request, Language::of(&request, None), Farewell::of(done)),
            None => sign_in(&state, &session, None, StatusCode::FOUND),
        },
        Err(error) => Err(error.into()),
    }
}

/// A form that says nothing but which one it is.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct PlainForm {
    /// The secret of the page's form.
    form: Option<String>,
}

impl PlainForm {
    /// Reads a form of our own page.
    fn read(
        state: &AppState,
        request: &HttpRequest,
        body: &Body,
        action: Action<'_>,
    ) -> Result<(), ApiError> {
        require_ours(request, &state.context.policy.public_url)?;
        let sent: Self = body.either()?;
        state.forms(request).require(&action, sent.form.as_deref())
    }
}

/// Asks for a new signature, for what an older one is not good enough for.
pub(crate) async fn sign_in_again(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    PlainForm::read(&state, &request, &body, Action::SignInAgain)?;
    sign_in(&state, &session, Some(state.context.clock.now()), StatusCode::SEE_OTHER)
}

/// Leads to the sign-in page, and from there back to this one.
fn sign_in(
    state: &AppState,
    session: &Session,
    oldest_sign_in: Option<OffsetDateTime>,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    let pending = PendingAuthorization { oldest_sign_in, ..request_of_ours(state) };
    sign_in_for(state, session, pending, status)
}

/// The request by which people sign in to this page.
fn request_of_ours(state: &AppState) -> PendingAuthorization {
    let Policy { public_url, lifetimes, .. } = &state.context.policy;
    PendingAuthorization::for_account(public_url, state.context.clock.now(), lifetimes)
}

fn sign_in_for(
    state: &AppState,
    session: &Session,
    pending: PendingAuthorization,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    let to = wait(state, session, pending).map_err(ApiError::server_error)?;
    Ok(HttpResponse::build(status).insert_header((header::LOCATION, to)).finish())
}

/// The answer to a form: the page once more, which says what was done.
pub(crate) fn back(state: &AppState, done: Option<Done>) -> HttpResponse {
    let base = state.context.policy.public_url.path();
    let to = match done {
        Some(done) => format!("{base}/account?{}={}", Done::PARAMETER, done.name()),
        None => format!("{base}/account"),
    };
    HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish()
}

/// Somebody may not do what they asked for. A person whose session is over by now signs in again; a program is told.
fn refuse(state: &AppState, request: &HttpRequest, error: AccountError) -> Result<HttpResponse, ApiError> {
    match error {
        AccountError::SignedOut if prefers_html(request) => Ok(back(state, None)),
        other @ (AccountError::SignedOut | AccountError::SignedInLongAgo | AccountError::Store(_)) => {
            Err(other.into())
        }
    }
}

/// The same for what needs a fresh signature: the page offers to sign again.
async fn refuse_change(
    state: &AppState,
    request: &HttpRequest,
    error: AccountError,
) -> Result<HttpResponse, ApiError> {
    match error {
        error @ AccountError::SignedInLongAgo => {
            show_again(state, request, error.into(), Step::trouble(Trouble::SignedInLongAgo)).await
        }
        error @ (AccountError::SignedOut | AccountError::Store(_)) => refuse(state, request, error),
    }
}

/// What a person wrote cannot be taken: the page says why, with the status of the error; a program gets the error itself.
async fn show_again(
    state: &AppState,
    request: &HttpRequest,
    error: ApiError,
    step: Step<'_>,
) -> Result<HttpResponse, ApiError> {
    if !prefers_html(request) {
        return Err(error);
    }
    match read_account(&state.context, &state.browser(request)).await {
        Ok(shown) => {
            let mut answer = page::render(state, request, &shown, step, error.status)?;
            for (name, value) in error.headers() {
                answer.headers_mut().insert(name.clone(), value.clone());
            }
            Ok(answer)
        }
        Err(error) => refuse(state, request, error),
    }
}
