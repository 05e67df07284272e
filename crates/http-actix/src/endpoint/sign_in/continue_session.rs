//! `POST /oauth/continue`: a person who is signed in goes on to a client that they agreed to before.

pub(crate) mod description;

use actix_session::Session;
use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::event::Actor;
use countersign_usecases::sign_in::continue_session::{
    ContinueSessionError, ContinueWishes, continue_session,
};
use paperclip::actix::Apiv2Schema;
use serde::Deserialize;

use crate::browser::forms::Action;
use crate::browser::session::Pendings;
use crate::endpoint::sign_in::answer::{Leaving, leave};
use crate::endpoint::sign_in::auth_page;
use crate::endpoint::steps::mail;
use crate::error::{About, ApiError};
use crate::extract::accept::prefers_html;
use crate::extract::body::{Body, BodyKind, required};
use crate::limits::rate_limit::Limited;
use crate::page::language::Language;
use crate::state::AppState;

/// The pending request to answer, as the page named it.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct ContinueRequest {
    /// The client of the pending request.
    client_id: Option<String>,
    /// Its redirect URI.
    redirect_uri: Option<String>,
    /// Its state.
    state: Option<String>,
    /// The account that the page named, in CAIP-10 form.
    wallet_account: Option<String>,
    /// An e-mail address. It goes on file if the user has none there.
    email: Option<String>,
    /// The secret of the page's form.
    form: Option<String>,
}

/// Answers a pending request with the browser's login session, without a new signature.
pub(crate) async fn go_on(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    state.admit(&request, Limited::Login)?;
    let is_form = body.kind == BodyKind::Form;
    let sent: ContinueRequest = body.either()?;
    mail::admit_first_link(&state, &request, sent.email.as_deref())?;
    let mut pendings = Pendings::require(&session, context.clock.now())?;
    let client_id = required(sent.client_id, "client_id")?;
    let redirect_uri = required(sent.redirect_uri, "redirect_uri")?;
    let account = required(sent.wallet_account, "wallet_account")?;
    let pending = pendings.named(&client_id, &redirect_uri, sent.state.as_deref())?.clone();
    let action = Action::Continue { request: &pending, account: &account };
    state.forms(&request).with(&session).require(&action, sent.form.as_deref())?;
    let wishes = ContinueWishes { account: Some(&account), email: sent.email.as_deref() };
    let about = || About::client(&client_id).wallet(&*context.wallets, &account);
    let cause = state.cause(&request, Actor::Person);
    match continue_session(context, &cause, &pending, &state.browser(&request), wishes).await {
        Ok(done) => {
            mail::send_first_link(&state, Language::of(&request, pending.ui_locales.as_deref()), done.link);
            let leaving = Leaving { pending: &pending, is_form, denied: false };
            leave(&state, &request, &session, pendings, &done.to, &leaving)
        }
        Err(ContinueSessionError::SessionEnded | ContinueSessionError::ConsentMissing)
            if is_form && prefers_html(&request) =>
        {
            let page = format!("{}/auth?request={}", context.policy.public_url.path(), pending.label());
            Ok(HttpResponse::SeeOther().insert_header((header::LOCATION, page)).finish())
        }
        Err(ContinueSessionError::NotAdmitted(not_admitted)) if is_form && prefers_html(&request) => {
            let user = not_admitted.account.clone();
            let error = ApiError::from(ContinueSessionError::NotAdmitted(not_admitted)).about(about());
            auth_page::turn_away(&state, (&request, &session), &pending, user, &error).await
        }
        Err(error) => Err(ApiError::from(error).about(about())),
    }
}
