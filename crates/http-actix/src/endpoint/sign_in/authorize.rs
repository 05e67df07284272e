//! `GET` and `POST /oauth/authorize`: a client sends a person to us.

pub(crate) mod description;

use actix_session::Session;
use actix_web::http::{StatusCode, header};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::challenge::fits_with;
use countersign_domain::error::{OAuthError, OAuthErrorCode};
use countersign_domain::event::Actor;
use countersign_domain::parameters::Parameters;
use countersign_domain::pending::PendingAuthorization;
use countersign_ports::EntropyExt;
use countersign_usecases::sign_in::begin_authorization::{
    self, BeginAuthorizationError, Begun, Way, begin_authorization,
};
use countersign_usecases::steps::answer::ClientAnswer;

use crate::browser::session::{Pendings, TooLarge, cookie_name, invitation_for, mark_or_new};
use crate::endpoint::sign_in::answer::{deliver, offer};
use crate::error::{About, ApiError};
use crate::extract::body::{Body, BodyKind};
use crate::extract::origin::again_by_get;
use crate::limits::rate_limit::Limited;
use crate::page::language::Language;
use crate::state::AppState;

/// Begins an authorization from the query. A redirect has status 302.
pub(crate) async fn get(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
) -> Result<HttpResponse, ApiError> {
    answer(&state, &request, Parameters::from_form(request.query_string()), &session, StatusCode::FOUND).await
}

/// Begins an authorization from a form. A redirect has status 303, so that the browser does not send the form
/// on.
pub(crate) async fn post(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let parameters = match body.kind {
        BodyKind::Form => {
            let pairs = body.pairs()?;
            let public_url = &state.context.policy.public_url;
            let address = format!("{}/oauth/authorize", public_url.path());
            let cookie = cookie_name(public_url.is_https());
            if let Some(again) = again_by_get(&request, cookie, &address, &pairs) {
                return Ok(again);
            }
            Parameters::new(pairs)
        }
        BodyKind::Json | BodyKind::Other => Parameters::from_form(request.query_string()),
    };
    answer(&state, &request, parameters, &session, StatusCode::SEE_OTHER).await
}

async fn answer(
    state: &AppState,
    request: &HttpRequest,
    parameters: Parameters,
    session: &Session,
    status: StatusCode,
) -> Result<HttpResponse, ApiError> {
    // To read a client's own document, we may have to send a request to another server.
    if parameters.all("client_id").any(|name| name.contains("://")) {
        state.rate_limits.check(Limited::Document, request)?;
    }
    match begin(state, request, &parameters, session).await {
        Ok(Next::Ask(page)) => {
            Ok(HttpResponse::build(status).insert_header((header::LOCATION, page)).finish())
        }
        Ok(Next::Tell(to)) => deliver(state, request, &to, status),
        Err(BeginAuthorizationError::Redirect { to, way, error }) => {
            state.log_refused_authorization(request, &error, &named_in(&parameters));
            match way {
                Way::AtOnce => deliver(state, request, &to, status),
                Way::ByLink => offer(state, request, &to, &error),
            }
        }
        Err(
            error @ (BeginAuthorizationError::ShowPage(_)
            | BeginAuthorizationError::Document(_)
            | BeginAuthorizationError::Store(_)),
        ) => Err(ApiError::from(error).about(named_in(&parameters))),
    }
}

fn named_in(parameters: &Parameters) -> About {
    parameters.all("client_id").next().map_or_else(About::default, About::client)
}

/// What to do after a good request.
enum Next {
    /// Ask the person, on the page with this address.
    Ask(String),
    /// Answer the client at once.
    Tell(ClientAnswer),
}

/// Checks the request and puts it into the session.
async fn begin(
    state: &AppState,
    request: &HttpRequest,
    parameters: &Parameters,
    session: &Session,
) -> Result<Next, BeginAuthorizationError> {
    let context = &state.context;
    let cause = || state.cause(request, Actor::Person);
    let begun = begin_authorization(context, cause, parameters, &state.browser(request)).await?;
    let mut pending = match begun {
        Begun::Ask(pending) => *pending,
        Begun::Answered { to } => return Ok(Next::Tell(to)),
    };
    let language = pending.ui_locales.as_deref().and_then(Language::negotiate);
    pending.ui_locales = language.map(|language| language.tag().to_owned());
    accept_if_invited(state, session, &mut pending);
    let mut pendings = Pendings::load(session, context.clock.now());
    pendings.add(pending);
    ask_newest(state, session, &mut pendings).map(Next::Ask).map_err(|too_large| {
        let error = OAuthError::new(OAuthErrorCode::InvalidRequest, too_large.to_string());
        match pendings.newest() {
            Some(pending) => begin_authorization::refuse(context, pending, error),
            None => BeginAuthorizationError::ShowPage(error),
        }
    })
}

/// A person who opened the link of an invitation to this client accepts it with the same signature, if that fits into the
/// text.
fn accept_if_invited(state: &AppState, session: &Session, pending: &mut PendingAuthorization) {
    let Some(client) = pending.client_request().map(|request| request.access.client) else { return };
    let Some(invitation) = invitation_for(session, client, || state.context.clock.now()) else { return };
    if fits_with(&state.context.policy.public_url, pending.purpose(), Some(&invitation)) {
        pending.invitation = Some(invitation);
    }
}

/// Puts a pending request into the session. Returns the address of the page that asks the person about it.
pub(crate) fn wait(
    state: &AppState,
    session: &Session,
    pending: PendingAuthorization,
) -> Result<String, TooLarge> {
    let mut pendings = Pendings::load(session, state.context.clock.now());
    pendings.add(pending);
    ask_newest(state, session, &mut pendings)
}

/// Keeps the requests in the session. Returns the address of the page that asks about the newest.
fn ask_newest(state: &AppState, session: &Session, pendings: &mut Pendings) -> Result<String, TooLarge> {
    // The forms of that page are bound to the session's mark, so it needs one.
    mark_or_new(session, || state.context.entropy.bytes()).map_err(|_| TooLarge)?;
    let label = if pendings.len() > 1 { pendings.newest().map(|newest| newest.label()) } else { None };
    pendings.save(session)?;
    let page = format!("{}/auth", state.context.policy.public_url.path());
    Ok(match label {
        Some(label) => format!("{page}?request={label}"),
        None => page,
    })
}
