//! A client sends a person to be signed out (OpenID Connect RP-Initiated Logout 1.0). A valid hint about the
//! user who is signed in here is enough. Otherwise the person is asked, because any page on the internet can
//! send people here.

use std::sync::Arc;

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::event::{Details, EventKind};
use countersign_domain::id::{SubjectId, UserId};
use countersign_domain::id_token::IdTokenRead;
use countersign_domain::login_session::LoginSession;
use countersign_domain::pairwise::KnownAs;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::scope::Scope;
use countersign_domain::secret::Secret;
use countersign_ports::{SignOut, StoreError};

use crate::Context;
use crate::clients::client_document::find_stored;
use crate::context::cause::Cause;
use crate::steps::login::{Browser, find_login};
use crate::steps::notify_logout::{LogoutNotice, notices};

/// What a client sends along.
#[derive(Clone, Debug, Default)]
pub struct SignOutRequest {
    /// An ID token that the client got for this person, expired or not.
    pub id_token_hint: Option<Secret>,
    /// The client.
    pub client_id: Option<String>,
    /// Where the person should go afterwards.
    pub post_logout_redirect_uri: Option<String>,
    /// The client's own value, given back byte for byte.
    pub state: Option<String>,
}

/// A request that is valid.
#[derive(Debug)]
pub struct SignOutJudged {
    /// What to do.
    pub step: SignOutStep,
    /// Who sent the person, if that is known.
    pub client: Option<Arc<Client>>,
    /// Where the person goes afterwards.
    pub back: Option<Back>,
}

/// What to do about a request.
#[derive(Debug)]
pub enum SignOutStep {
    /// Sign out and go back. The client showed that it means the user who is signed in here, or no one is
    /// signed in.
    AtOnce,
    /// Ask the person.
    Ask(Box<LoginSession>),
    /// Show it to the person, and send them nowhere. No one is signed in here, and anyone may have sent them.
    NotSignedIn,
}

/// A registered address to go back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Back {
    /// As it was registered or requested.
    pub uri: RedirectUri,
    /// The same with the client's `state`.
    pub address: String,
}

/// Why a person is neither asked nor signed out. The error is shown to them, never redirected (A-104, B-058).
#[derive(Debug, thiserror::Error)]
pub enum SignOutError {
    /// The hint is not our ID token, or was changed.
    #[error("id_token_hint is not an ID token of this server")]
    Hint,
    /// The hint was issued to a client other than the one that is named.
    #[error("id_token_hint was issued to another client")]
    OtherClient,
    /// The client is not registered.
    #[error("client is not registered")]
    ClientUnknown,
    /// The client did not register the address to go back to.
    #[error("post_logout_redirect_uri is not registered")]
    NotRegistered,
    /// Something could not be read.
    #[error("sign-out could not be judged")]
    Store(#[from] StoreError),
}

/// Judges a request. Without a client the address cannot be checked, so there is no way back to it.
pub async fn judge_sign_out(
    context: &Context,
    request: &SignOutRequest,
    browser: &Browser,
) -> Result<SignOutJudged, SignOutError> {
    let hint = match &request.id_token_hint {
        Some(token) => Some(context.signer.read_id_token(token.expose()).ok_or(SignOutError::Hint)?),
        None => None,
    };
    let client = find_client(context, request, hint.as_ref()).await?;
    let back = match (&client, &request.post_logout_redirect_uri) {
        (Some(client), Some(requested)) => {
            let uri = registered(context, client, requested).ok_or(SignOutError::NotRegistered)?;
            let state: Vec<_> = request.state.iter().map(|state| ("state", state.as_str())).collect();
            let address = if state.is_empty() { requested.clone() } else { uri.with_answer(&state) };
            Some(Back { uri, address })
        }
        (None, _) | (_, None) => None,
    };
    let session = find_login(context, browser.login.as_ref()).await?;
    let hint = hint.map(|hint| meant_by(context, hint.subject, client.as_deref()));
    let step = match (hint, session) {
        (Some(user), Some(session)) if user != session.user => SignOutStep::Ask(Box::new(session)),
        // Anyone can publish a document and get an ID token for it. So a hint about a person who is not
        // signed in here redirects no one.
        (Some(_), None) if client.as_ref().is_some_and(|client| client.origin == ClientOrigin::Document) => {
            SignOutStep::NotSignedIn
        }
        (Some(_), _) => SignOutStep::AtOnce,
        (None, Some(session)) => SignOutStep::Ask(Box::new(session)),
        (None, None) => SignOutStep::NotSignedIn,
    };
    Ok(SignOutJudged { step, client, back })
}

/// The user that a hint means, as its client knows them. If the client is not there any more, it is not known how it knew
/// people, so a hint means someone only if they are known by their own id.
fn meant_by(context: &Context, subject: SubjectId, client: Option<&Client>) -> UserId {
    client.map_or(KnownAs::Public, |client| context.keys.pairwise.known_to(client)).user(subject)
}

/// The client that is named, or that the hint was issued to. A client that was deleted since has no
/// addresses.
async fn find_client(
    context: &Context,
    request: &SignOutRequest,
    hint: Option<&IdTokenRead>,
) -> Result<Option<Arc<Client>>, SignOutError> {
    let named = request.client_id.as_deref();
    if let (Some(named), Some(hint)) = (named, hint)
        && named != hint.audience
    {
        return Err(SignOutError::OtherClient);
    }
    let Some(id) = named.or(hint.map(|hint| hint.audience.as_str())) else { return Ok(None) };
    let found = find_stored(context, id).await?;
    if found.is_none() && hint.is_none() {
        return Err(SignOutError::ClientUnknown);
    }
    Ok(found)
}

/// Finds a registered address. It is compared and checked like a redirect URI, because an older build
/// accepted more, including our own addresses.
fn registered(context: &Context, client: &Client, requested: &str) -> Option<RedirectUri> {
    if context.policy.own_origin().is_reached_by(requested) {
        return None;
    }
    let uris = client.metadata.display.post_logout_redirect_uris.iter();
    uris.map(|uri| RedirectUri::from_trusted(uri.clone()))
        .find_map(|uri| uri.admitted(requested, client.uri_owner()))
}

/// Signs out the user who is signed in on this browser, and revokes the grants that were made in the session
/// and are not meant to outlast it. The answer says which clients to tell.
pub async fn sign_out(
    context: &Context,
    cause: &Cause,
    browser: &Browser,
) -> Result<Vec<LogoutNotice>, StoreError> {
    let Some(session) = find_login(context, browser.login.as_ref()).await? else { return Ok(Vec::new()) };
    let to_notify = notices(&*context.storage, session.user, Some(session.id)).await?;
    let (user, now) = (session.user, context.clock.now());
    let event = context.event(now, cause, EventKind::SignOut, |event| {
        event.details = Details::default().flag("revoked", true);
    });
    let command = SignOut { user, session: session.id, keeps: Scope::OfflineAccess, now, event };
    context.storage.sign_out(command).await?;
    tracing::info!(user.id = %user, "signed out");
    Ok(to_notify)
}
