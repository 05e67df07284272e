//! `POST /oauth/deny`: a person presses Deny.

pub(crate) mod description;

use actix_session::Session;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use countersign_usecases::sign_in::deny_authorization::deny_authorization;
use paperclip::actix::Apiv2Schema;
use serde::Deserialize;

use crate::browser::forms::Action;
use crate::browser::session::Pendings;
use crate::endpoint::sign_in::answer::{Leaving, leave};
use crate::error::ApiError;
use crate::extract::body::{Body, BodyKind, required};
use crate::extract::origin::require_ours;
use crate::state::AppState;

/// The pending request to deny, as the page named it.
#[derive(Deserialize, Apiv2Schema)]
pub(crate) struct DenyRequest {
    /// The client of the pending request.
    client_id: Option<String>,
    /// Its redirect URI.
    redirect_uri: Option<String>,
    /// Its state.
    state: Option<String>,
    /// The secret of the page's form.
    form: Option<String>,
}

/// Sends the client the answer that the person said no.
pub(crate) async fn deny(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    body: Body,
) -> Result<HttpResponse, ApiError> {
    let context = &state.context;
    require_ours(&request, &context.policy.public_url)?;
    let sent: DenyRequest = body.either()?;
    let mut pendings = Pendings::require(&session, context.clock.now())?;
    let client_id = required(sent.client_id, "client_id")?;
    let redirect_uri = required(sent.redirect_uri, "redirect_uri")?;
    let pending = pendings.named(&client_id, &redirect_uri, sent.state.as_deref())?.clone();
    let action = Action::Deny { request: &pending };
    state.forms(&request).with(&session).require(&action, sent.form.as_deref())?;
    let to = deny_authorization(context, &pending).await?;
    let leaving = Leaving { pending: &pending, is_form: body.kind == BodyKind::Form, denied: true };
    leave(&state, &request, &session, pendings, &to, &leaving)
}
