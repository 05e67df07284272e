//! `GET /join/{secret}`: a person opens the link of an invitation. It says what it is, and leads on to where they sign.

pub(crate) mod description;

use actix_session::Session;
use actix_web::http::{StatusCode, header};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::invitation::{Invitation, InvitationState};
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::secret::Secret;
use countersign_usecases::sign_in::open_invitation::{LeadsTo, OpenedInvitation, open_invitation};
use serde::Serialize;

use crate::browser::session::{WaitingInvitation, save_invitation};
use crate::endpoint::sign_in::authorize;
use crate::error::ApiError;
use crate::limits::rate_limit::Limited;
use crate::page::language::Language;
use crate::page::moment::Moment;
use crate::page::name::Name;
use crate::state::AppState;

#[derive(Serialize)]
struct PageContext {
    /// `open`, `used`, `expired`, `revoked` or `unknown`.
    state: &'static str,
    invitation: Option<InvitationView>,
    contact: Option<ContactView>,
}

#[derive(Serialize)]
struct InvitationView {
    group: String,
    /// Who invites: the operator's words, or our host.
    from: String,
    /// What operators will call the person.
    name: Option<String>,
    expires: Moment,
    /// The application that it leads to.
    client: String,
    /// Where people begin to sign in to it.
    client_uri: String,
}

/// Where people can ask for another invitation.
#[derive(Serialize)]
struct ContactView {
    text: String,
    link: String,
    is_web: bool,
}

/// Shows what the invitation is, if it leads to an application. Without one, the sign-in page says it.
pub(crate) async fn open(
    state: Data<AppState>,
    request: HttpRequest,
    session: Session,
    secret: Path<String>,
) -> Result<HttpResponse, ApiError> {
    state.admit(&request, Limited::Invitation).map_err(ApiError::always_as_page)?;
    let found = open_invitation(&state.context, &Secret::new(secret.into_inner())).await;
    let found = found.map_err(|error| ApiError::from(error).always_as_page())?;
    let Some(OpenedInvitation { invitation, state: standing, leads_to }) = found else {
        return page(&state, &request, "unknown", None);
    };
    if standing != InvitationState::Open {
        return page(&state, &request, standing.name(), None);
    }
    let now = state.context.clock.now();
    let lifetimes = &state.context.policy.lifetimes;
    if let (Some(client), Some(LeadsTo { name, uri: Some(uri) })) = (invitation.client, leads_to) {
        let expires_at = now + lifetimes.session;
        let waiting = WaitingInvitation { invitation: invitation.accepted(), client, expires_at };
        save_invitation(&session, &waiting, now).map_err(ApiError::server_error)?;
        let view = InvitationView::of(&state, invitation, name, uri);
        return page(&state, &request, standing.name(), Some(view));
    }
    let mut pending = PendingAuthorization::for_account(&state.context.policy.public_url, now, lifetimes);
    pending.invitation = Some(invitation.accepted());
    let to = authorize::wait(&state, &session, pending).map_err(ApiError::server_error)?;
    // The page that follows does not have the link in its address.
    Ok(HttpResponse::SeeOther().insert_header((header::LOCATION, to)).finish())
}

fn page(
    state: &AppState,
    request: &HttpRequest,
    standing: &'static str,
    invitation: Option<InvitationView>,
) -> Result<HttpResponse, ApiError> {
    let status = match (standing, &invitation) {
        (_, Some(_)) => StatusCode::OK,
        ("unknown", None) => StatusCode::NOT_FOUND,
        (_, None) => StatusCode::GONE,
    };
    let contact = state.contact.as_ref().map(|contact| ContactView {
        text: contact.shown().to_owned(),
        link: contact.link(),
        is_web: contact.is_web(),
    });
    let context = PageContext { state: standing, invitation, contact };
    state.pages.show(request, Language::of(request, None), Name::Join, status, &context)
}

impl InvitationView {
    fn of(state: &AppState, invitation: Invitation, client: String, client_uri: String) -> Self {
        Self {
            group: invitation.group.to_string(),
            from: invitation.inviter_or_host(&state.context.policy.public_url).to_owned(),
            name: invitation.name.map(|name| name.to_string()),
            expires: Moment::at(invitation.expires_at),
            client,
            client_uri,
        }
    }
}
