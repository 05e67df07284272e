//! The only place from which a browser leaves for a client: by a redirect, or by a form that it posts (OAuth
//! 2.0 Form Post Response Mode). `GET /oauth/answer` shows that form if a script sent the browser here.

pub(crate) mod description;

use actix_session::Session;
use actix_web::http::{StatusCode, header};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::{OAuthError, OAuthErrorCode, Reason};
use countersign_domain::own_origin::OwnOrigin;
use countersign_domain::pending::{PendingAuthorization, Requester};
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::response_mode::ResponseMode;
use countersign_usecases::steps::answer::ClientAnswer;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use crate::browser::session::{Pendings, save_answer, take_answer};
use crate::error::ApiError;
use crate::extract::accept::prefers_html;
use crate::extract::header_text;
use crate::page::language::Language;
use crate::page::name::Name;
use crate::page::policy;
use crate::state::AppState;

/// Where the browser goes next. Scripts get this answer, because they cannot follow a redirect to another
/// site.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct RedirectAnswer {
    /// The whole URL.
    redirect_to: String,
}

/// The page between us and the client.
#[derive(Serialize)]
struct ContinuePage<'a> {
    target: &'a str,
    destination: &'a str,
    denied: bool,
}

/// The page that posts an answer to the client.
#[derive(Serialize)]
struct FormPostPage<'a> {
    target: &'a str,
    destination: &'a str,
    fields: &'a [(String, String)],
}

/// The page that offers a way back to the client.
#[derive(Serialize)]
struct OfferPage<'a> {
    target: &'a str,
    destination: &'a str,
    /// The fields of the form. Empty for a link, which has them in its URL.
    fields: &'a [(String, String)],
    by_form: bool,
    error: &'a str,
    description: &'a str,
}

/// The request that the person answered, and how.
pub(crate) struct Leaving<'a> {
    /// The pending request that is answered.
    pub(crate) pending: &'a PendingAuthorization,
    /// Did a form send it, and not a script?
    pub(crate) is_form: bool,
    /// Did the person say no?
    pub(crate) denied: bool,
}

/// Sends the browser to the client at once, without a page in between.
pub(crate) fn deliver(
    state: &AppState,
    request: &HttpRequest,
    answer: &ClientAnswer,
    redirect: StatusCode,
) -> Result<HttpResponse, ApiError> {
    match answer.mode {
        ResponseMode::Query => {
            Ok(HttpResponse::build(redirect).insert_header((header::LOCATION, answer.address())).finish())
        }
        ResponseMode::FormPost => form_post(state, request, Language::of(request, None), answer),
    }
}

/// Shows a refusal, with a way back to a client that no one here knows. The person has done nothing yet, so
/// the browser must not go there by itself (RFC 9700 section 4.11.2).
pub(crate) fn offer(
    state: &AppState,
    request: &HttpRequest,
    answer: &ClientAnswer,
    error: &OAuthError,
) -> Result<HttpResponse, ApiError> {
    let language = Language::of(request, None);
    let destination = &state.pages.templates.destination(language, &answer.redirect_uri.destination());
    let by_form = answer.mode == ResponseMode::FormPost;
    let target = if by_form { answer.redirect_uri.as_str().to_owned() } else { answer.address() };
    let page = OfferPage {
        target: &target,
        destination,
        fields: if by_form { &answer.parameters } else { &[] },
        by_form,
        error: error.code.name(),
        description: &error.description,
    };
    let status = StatusCode::BAD_REQUEST;
    let mut shown = state.pages.show(request, language, Name::Offer, status, &page)?;
    if by_form {
        may_post_to(state, &mut shown, &answer.redirect_uri)?;
    }
    Ok(shown)
}

/// Sends the browser from our page to the client, and removes the answered request from the session. A script
/// gets the address. A form without scripts gets a page that goes on to the client, because Chromium applies
/// `form-action` to the redirect after a form. Everything else gets the specification's redirect.
pub(crate) fn leave(
    state: &AppState,
    request: &HttpRequest,
    session: &Session,
    mut pendings: Pendings,
    to: &ClientAnswer,
    leaving: &Leaving<'_>,
) -> Result<HttpResponse, ApiError> {
    let Leaving { pending, is_form, denied } = *leaving;
    let language = Language::of(request, pending.ui_locales.as_deref());
    let by_script = accepts_json(request);
    pendings.remove(&pending.label());
    // A script cannot post to another site either. It sends the browser to a page of ours that does so, with
    // nothing in its URL.
    let kept = by_script && to.mode == ResponseMode::FormPost;
    let saved = if kept { save_answer(session, to, pendings) } else { pendings.save(session) };
    saved.map_err(ApiError::server_error)?;
    if by_script {
        let here = || state.context.policy.public_url.join("/oauth/answer");
        let redirect_to = if kept { here() } else { to.address() };
        return Ok(HttpResponse::Ok().json(RedirectAnswer { redirect_to }));
    }
    if to.mode == ResponseMode::FormPost {
        return form_post(state, request, language, to);
    }
    let target = to.address();
    // `form-action` allows the redirect to a page of our own.
    let stays_here = match pending.requester {
        Requester::Client(_) => false,
        Requester::AccountPage { .. } | Requester::Device(_) => true,
    };
    if is_form && prefers_html(request) && !stays_here {
        let destination = &state.pages.templates.destination(language, &to.redirect_uri.destination());
        let page = ContinuePage { target: &target, destination, denied };
        return state.pages.show(request, language, Name::Continue, StatusCode::OK, &page);
    }
    Ok(HttpResponse::SeeOther().insert_header((header::LOCATION, target)).finish())
}

/// Shows, once, the form with an answer that the session kept for a script.
pub(crate) async fn show(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    let answer = take_answer(&session).ok_or_else(|| ApiError::missing_session().always_as_page())?;
    form_post(&state, &request, Language::of(&request, None), &answer)
}

/// Shows the page that posts an answer to the client. Only this page and the page of [`offer`] may post to
/// another site.
fn form_post(
    state: &AppState,
    request: &HttpRequest,
    language: Language,
    answer: &ClientAnswer,
) -> Result<HttpResponse, ApiError> {
    let destination = &state.pages.templates.destination(language, &answer.redirect_uri.destination());
    let page = FormPostPage { target: answer.redirect_uri.as_str(), destination, fields: &answer.parameters };
    let mut shown = state.pages.show(request, language, Name::FormPost, StatusCode::OK, &page)?;
    may_post_to(state, &mut shown, &answer.redirect_uri)?;
    Ok(shown)
}

/// Lets a page post to a client, and nowhere else. A page that posts to ourselves would be another site's
/// form with our origin. There must never be one, whatever was checked before (F-02).
fn may_post_to(state: &AppState, shown: &mut HttpResponse, to: &RedirectUri) -> Result<(), ApiError> {
    let own_origin = OwnOrigin::new(&state.context.policy.public_url, None);
    if own_origin.forbids(to.as_str()) {
        return Err(ApiError::because(OAuthErrorCode::InvalidRequest, Reason::RedirectUri).always_as_page());
    }
    let source = to.policy_source();
    let policy = policy::policy_of_form_to(source.as_deref().unwrap_or("'none'"));
    let policy = header::HeaderValue::try_from(policy).map_err(ApiError::server_error)?;
    shown.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(())
}

fn accepts_json(request: &HttpRequest) -> bool {
    let accept = header_text(request.headers(), header::ACCEPT);
    accept.is_some_and(|accept| accept.contains("application/json")) && !prefers_html(request)
}
