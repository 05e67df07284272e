//! `POST /oauth/login`: a person presents a signed challenge.

use actix_session::Session;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::authorization::unknown_client;
use countersign_domain::id::ClientId;
use countersign_usecases::Refuse;
use countersign_usecases::complete_login::{CompleteLoginError, SignedChallenge, complete_login};
use countersign_usecases::issue_challenge::recall_challenge;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};

use crate::edge::prefers_html;
use crate::endpoint::auth_page::{self, Step};
use crate::error::ApiError;
use crate::extract::body::{Body, Kind, required};
use crate::origin::require_ours;
use crate::rate_limit::Limited;
use crate::session::Pendings;
use crate::state::AppState;
use crate::templates::{ContinuePage, Name};

/// A signed challenge, with the pending request that it answers.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct LoginRequest {
    /// The wallet's address.
    wallet_address: Option<String>,
    /// The exact text that was issued.
    challenge: Option<String>,
    /// The wallet's signature: hex, base64, base64url or base58, whichever its family writes.
    signature: Option<String>,
    /// The client of the pending request.
    client_id: Option<String>,
    /// Its redirect URI.
    redirect_uri: Option<String>,
    /// Its state.
    state: Option<String>,
}

/// Where the browser goes, for scripts, which cannot follow a redirect to another site.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct RedirectAnswer {
    /// The whole address.
    redirect_to: String,
}

/// Completes a login.
pub(crate) async fn complete(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    require_ours(&request, &context.policy.public_url)?;
    state.rate_limits.check(Limited::Login, &request)?;
    let is_form = body.kind == Kind::Form;
    let sent: LoginRequest = body.either()?;
    let mut pendings = Pendings::require(&session, context.clock.now())?;
    let wallet_address = required(sent.wallet_address, "wallet_address")?;
    let challenge = required(sent.challenge, "challenge")?;
    let signature = required(sent.signature, "signature")?;
    let client_id = required(sent.client_id, "client_id")?;
    let redirect_uri = required(sent.redirect_uri, "redirect_uri")?;
    let client_state = sent.state;
    let Some(pending) = pendings.find(&client_id, &redirect_uri, client_state.as_deref()) else {
        return Err(no_such_request(&state, &client_id, client_state.as_deref()).await);
    };
    let signed = if is_form {
        // Browsers send the line breaks of a form as CR LF; what is pasted comes with stray white space.
        SignedChallenge {
            wallet_address: wallet_address.trim().to_owned(),
            challenge: challenge.replace("\r\n", "\n"),
            signature: signature.trim().to_owned(),
        }
    } else {
        SignedChallenge { wallet_address, challenge, signature }
    };
    let done = complete_login(context, pending, signed.clone()).await;
    let pending = pending.clone();
    if done.is_ok() {
        pendings.remove(&pending.label());
    }
    if done.is_ok() || matches!(done, Err(CompleteLoginError::Signature(_))) {
        pendings.save(&session).map_err(ApiError::server_error)?;
    }
    match done {
        Ok(to) => {
            leave(&state, &request, is_form, to, &pending.redirect_uri.destination().to_string(), false)
        }
        Err(error) if is_form && prefers_html(&request) => {
            let challenge = recall_challenge(context, &pending, &signed.wallet_address, &signed.challenge);
            let step =
                Step { challenge, notice: Some(error.refusal().description.into_owned()), ..Step::default() };
            let status = ApiError::from(error).status;
            auth_page::render(&state, &pending, step, status).await
        }
        Err(error) => Err(error.into()),
    }
}

/// No pending request is like this one: because nobody registered the client, because a field is missing, or because
/// the session knows nothing of it.
async fn no_such_request(state: &AppState, client_id: &str, client_state: Option<&str>) -> ApiError {
    let registered = match ClientId::parse(client_id) {
        Some(id) => state.context.storage.find_client(id).await,
        None => Ok(None),
    };
    match registered {
        Err(error) => error.into(),
        Ok(None) => ApiError::from_error(unknown_client()),
        Ok(Some(_)) if client_state.is_none_or(str::is_empty) => {
            ApiError::invalid_request("state is missing")
        }
        Ok(Some(_)) => ApiError::missing_session(),
    }
}

/// Sends the browser to the client: a script gets the address, a form without scripts a page that goes on, because
/// Chromium applies `form-action` to the redirect of a form, and everybody else the specification's redirect.
pub(crate) fn leave(
    state: &AppState,
    request: &HttpRequest,
    is_form: bool,
    to: String,
    destination: &str,
    denied: bool,
) -> Result<HttpResponse, ApiError> {
    if accepts_json(request) {
        return Ok(HttpResponse::Ok().json(RedirectAnswer { redirect_to: to }));
    }
    if is_form && prefers_html(request) {
        let page = ContinuePage {
            host: state.context.policy.public_url.authority(),
            target: &to,
            destination,
            denied,
        };
        let page = state.templates.render(Name::Continue, &page).map_err(ApiError::server_error)?;
        return Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page));
    }
    Ok(HttpResponse::SeeOther().insert_header((actix_web::http::header::LOCATION, to)).finish())
}

fn accepts_json(request: &HttpRequest) -> bool {
    let accept = request.headers().get(actix_web::http::header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("application/json")) && !prefers_html(request)
}
