//! The small forms of the account page: revoke an application's access, sign out, delete the account.

pub(crate) mod description;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::event::Actor;
use countersign_domain::id::{ClientId, SessionId};
use countersign_usecases::account::delete_account::delete_account;
use countersign_usecases::account::end_sessions::{WhichSessions, end_sessions};
use countersign_usecases::account::revoke_consent::revoke_consent;
use paperclip::actix::Apiv2Schema;
use serde::Deserialize;

use super::page::Step;
use super::trouble::Trouble;
use super::{back, refuse, refuse_change, show_again};
use crate::browser::forms::Action;
use crate::endpoint::steps::back_channel;
use crate::endpoint::steps::done::Done;
use crate::error::ApiError;
use crate::extract::body::{Body, required};
use crate::extract::origin::require_ours;
use crate::limits::rate_limit::Limited;
use crate::state::AppState;

/// The client that loses its access.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct RevokeAccessRequest {
    /// The client.
    client_id: Option<String>,
    /// The secret of the page's form.
    form: Option<String>,
}

/// The sessions to end.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct EndSessionsRequest {
    /// The id of one of the person's sessions, `this` for the session of the cookie, or `all`.
    session: Option<String>,
    /// The secret of the page's form.
    form: Option<String>,
}

/// The confirmation that the account should be deleted.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct DeleteAccountRequest {
    /// `yes` if the person is sure.
    confirm: Option<String>,
    /// The secret of the page's form.
    form: Option<String>,
}

/// Revokes a client's access.
pub(crate) async fn revoke(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    require_ours(&request, &state.context.policy.public_url)?;
    let sent: RevokeAccessRequest = body.either()?;
    let client = required(sent.client_id, "client_id")?;
    let action = Action::RevokeAccess { client: &client };
    state.forms(&request).require(&action, sent.form.as_deref())?;
    let client =
        ClientId::parse(&client).ok_or_else(|| ApiError::invalid_request("client_id is not an id"))?;
    let cause = state.cause(&request, Actor::Person);
    match revoke_consent(&state.context, &cause, &state.browser(&request), client).await {
        Ok(_) => Ok(back(&state, Some(Done::AccessRevoked))),
        Err(error) => refuse(&state, &request, error),
    }
}

/// Signs out: in this browser, in another one, or everywhere.
pub(crate) async fn end(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    require_ours(&request, &state.context.policy.public_url)?;
    let sent: EndSessionsRequest = body.either()?;
    let named = required(sent.session, "session")?;
    let action = Action::EndSessions { which: &named };
    state.forms(&request).require(&action, sent.form.as_deref())?;
    let which = which(&named)?;
    let cause = state.cause(&request, Actor::Person);
    let ended = match end_sessions(&state.context, &cause, &state.browser(&request), which).await {
        Ok(ended) => ended,
        Err(error) => return refuse(&state, &request, error),
    };
    back_channel::tell(&state, ended.notices);
    let done = match which {
        WhichSessions::All => Done::SignedOutEverywhere,
        WhichSessions::This | WhichSessions::One(_) if ended.this_one => Done::SignedOut,
        WhichSessions::This | WhichSessions::One(_) => Done::SessionEnded,
    };
    let mut answer = back(&state, Some(done));
    if ended.this_one {
        state.forget(&mut answer)?;
    }
    Ok(answer)
}

/// Deletes the account, if the person signed recently and confirmed it.
pub(crate) async fn delete(
    state: Data<AppState>,
    request: HttpRequest,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    state.admit(&request, Limited::Login)?;
    let sent: DeleteAccountRequest = body.either()?;
    state.forms(&request).require(&Action::DeleteAccount, sent.form.as_deref())?;
    if sent.confirm.as_deref() != Some("yes") {
        let error = ApiError::invalid_request("confirm must be yes");
        return show_again(&state, &request, error, Step::trouble(Trouble::NotConfirmed)).await;
    }
    let cause = state.cause(&request, Actor::Person);
    match delete_account(&state.context, &cause, &state.browser(&request)).await {
        Ok(notices) => {
            back_channel::tell(&state, notices);
            let mut answer = back(&state, Some(Done::AccountDeleted));
            state.forget(&mut answer)?;
            Ok(answer)
        }
        Err(error) => refuse_change(&state, &request, error).await,
    }
}

fn which(session: &str) -> Result<WhichSessions, ApiError> {
    match session {
        "this" => Ok(WhichSessions::This),
        "all" => Ok(WhichSessions::All),
        id => SessionId::parse(id)
            .map(WhichSessions::One)
            .ok_or_else(|| ApiError::invalid_request("session must be the id of a session, this or all")),
    }
}
