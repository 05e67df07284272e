//! `/account`: what a person has here, and how they change it. Everything works with forms; the answer to
//! each is the page again, which says what was done. A person who is not signed in goes to the sign-in page
//! first and then comes back.

pub(crate) mod data;
pub(crate) mod description;
pub(crate) mod email;
pub(crate) mod events;
pub(crate) mod forms;
pub(crate) mod naming;
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
use countersign_usecases::steps::recognize_operator::recognize_operator;
use paperclip::actix::Apiv2Schema;
use serde::Deserialize;
use time::OffsetDateTime;

pub use page::kind_of;

use crate::browser::forms::Action;
use crate::endpoint::sign_in::authorize::wait;
use crate::endpoint::steps::done::Done;
use crate::endpoint::steps::farewell::{Farewell, signed_out};
use crate::error::ApiError;
use crate::extract::accept::prefers_html;
use crate::extract::body::Body;
use crate::extract::origin::require_ours;
use crate::page::language::Language;
use crate::settings::DeskPlace;
use crate::state::AppState;
use page::Step;
use trouble::Trouble;

/// Shows the page, or redirects to the sign-in page.
pub(crate) async fn show(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    let done = Done::of(&request, &state.context.policy.public_url);
    match read_account(&state.context, &state.browser(&request)).await {
        Ok(shown) => {
            let step = Step { done, desk: sees_desk(&state, &request).await?, ..Step::default() };
            page::render(&state, &request, &shown, step, StatusCode::OK)
        }
        Err(AccountError::SignedOut) => match done.filter(|done| done.may_end_the_session()) {
            Some(done) => signed_out(&state, &request, Language::of(&request, None), Farewell::of(done)),
            None => sign_in(&state, &session, None, StatusCode::FOUND),
        },
        Err(error) => Err(error.into()),
    }
}

/// A form with no fields except its secret.
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

/// Asks for a new signature, because some actions need a recent one.
pub(crate) async fn sign_in_again(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    PlainForm::read(&state, &request, &body, Action::SignInAgain)?;
    sign_in(&state, &session, Some(state.context.clock.now()), StatusCode::SEE_OTHER)
}

/// Redirects to the sign-in page, which leads back to this one.
fn sign_in(
    state: &AppState,
    session: &Session,
    oldest_sign_in: Option<OffsetDateTime>,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    let pending = PendingAuthorization { oldest_sign_in, ..request_of_ours(state) };
    sign_in_for(state, session, pending, status)
}

/// The pending request that signs a person in to this page.
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

/// Answers a form: redirects to the page, which says what was done.
pub(crate) fn back(state: &AppState, done: Option<Done>) -> HttpResponse {
    let base = state.context.policy.public_url.path();
    let to = match done {
        Some(done) => format!("{base}/account?{}={}", Done::PARAMETER, done.name()),
        None => format!("{base}/account"),
    };
    HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish()
}

/// Is there a desk at this address, and is the signed-in user an operator?
async fn sees_desk(state: &AppState, request: &HttpRequest) -> Result<bool, ApiError> {
    if state.desk.as_ref().is_none_or(|desk| desk.place != DeskPlace::Public) {
        return Ok(false);
    }
    let operator = recognize_operator(&state.context, &state.browser(request)).await;
    Ok(operator.map_err(AccountError::Store)?.is_some())
}

/// Refuses an action. A person whose session has ended can sign in again; a program gets the error.
fn refuse(state: &AppState, request: &HttpRequest, error: AccountError) -> Result<HttpResponse, ApiError> {
    match error {
        AccountError::SignedOut if prefers_html(request) => Ok(back(state, None)),
        other @ (AccountError::SignedOut | AccountError::SignedInLongAgo | AccountError::Store(_)) => {
            Err(other.into())
        }
    }
}

/// The same for an action that needs a recent signature: the page offers to sign again.
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

/// Refuses what a person sent: the page says why, with the status of the error. A program gets the error
/// itself.
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
            let step = Step { desk: sees_desk(state, request).await?, ..step };
            let mut answer = page::render(state, request, &shown, step, error.status)?;
            for (name, value) in error.headers() {
                answer.headers_mut().insert(name.clone(), value.clone());
            }
            Ok(answer)
        }
        Err(error) => refuse(state, request, error),
    }
}
