//! The one place from which a browser leaves for a client: by a redirect, or by a form that it posts (OAuth 2.0 Form Post
//! Response Mode). `GET /oauth/answer` shows that form to whoever came here by a script.

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

/// Where the browser goes, for scripts, which cannot follow a redirect to another site.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct RedirectAnswer {
    /// The whole address.
    redirect_to: String,
}

/// What the page between us and the client says.
#[derive(Serialize)]
struct ContinuePage<'a> {
    target: &'a str,
    destination: &'a str,
    denied: bool,
}

/// What the page says that posts an answer.
#[derive(Serialize)]
struct FormPostPage<'a> {
    target: &'a str,
    destination: &'a str,
    fields: &'a [(String, String)],
}

/// What the page says that offers the way back to a client.
#[derive(Serialize)]
struct OfferPage<'a> {
    target: &'a str,
    destination: &'a str,
    /// What a form says that goes there; a link says it in its address.
    fields: &'a [(String, String)],
    by_form: bool,
    error: &'a str,
    description: &'a str,
}

/// How a page was sent.
pub(crate) struct Leaving<'a> {
    /// The request that is answered.
    pub(crate) pending: &'a PendingAuthorization,
    /// Did a form send it, without a script?
    pub(crate) is_form: bool,
    /// Did the person say no?
    pub(crate) denied: bool,
}

/// Sends the browser to the client at once, from the authorization endpoint.
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

/// Shows a refusal, with the way back to a client that nobody here knows: the person did nothing yet, so the browser goes nowhere by itself
/// (RFC 9700 section 4.11.2).
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

/// Sends the browser from our page to the client, and forgets the request that was answered: a script gets the address, a form
/// without scripts a page that goes on, because Chromium applies `form-action` to the redirect of a form, and everybody else the
/// specification's redirect.
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
    // A page's script cannot post to another site either: it goes to a page of ours that does, with nothing in its address.
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
    // The way to a page of our own is none that `form-action` forbids.
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

/// Shows the form of an answer that a script came with, once.
pub(crate) async fn show(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    let answer = take_answer(&session).ok_or_else(|| ApiError::missing_session().always_as_page())?;
    form_post(&state, &request, Language::of(&request, None), &answer)
}

/// The page that posts an answer to the client; no other page may post to another site.
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

/// Lets a page post to a client, and nowhere else. A page that posts to ourselves would be somebody else's form with our origin: whatever was
/// judged before, there is none (F-02).
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
