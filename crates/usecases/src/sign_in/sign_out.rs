//! A client sends a person to be signed out (OpenID Connect RP-Initiated Logout 1.0). A good hint about whoever is signed in here is
//! enough; otherwise the person is asked, because any page of the internet can send people here.

use std::sync::Arc;

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::id_token::IdTokenRead;
use countersign_domain::login_session::LoginSession;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::scope::Scope;
use countersign_domain::secret::Secret;
use countersign_ports::{SignOut, StoreError};

use crate::Context;
use crate::clients::client_document::find_stored;
use crate::steps::login::{Browser, find_login};
use crate::steps::notify_logout::{LogoutNotice, notices};

/// What a client sends along.
#[derive(Clone, Debug, Default)]
pub struct SignOutRequest {
    /// An ID token that the client got for this person, expired or not.
    pub id_token_hint: Option<Secret>,
    /// The client.
    pub client_id: Option<String>,
    /// Where the person shall go afterwards.
    pub post_logout_redirect_uri: Option<String>,
    /// The client's own value, given back byte for byte.
    pub state: Option<String>,
}

/// A request that passed the judgement.
#[derive(Debug)]
pub struct SignOutJudged {
    /// What is to be done.
    pub step: SignOutStep,
    /// Who sent the person, if that is known.
    pub client: Option<Arc<Client>>,
    /// Where the person goes afterwards.
    pub back: Option<Back>,
}

/// What is to be done.
#[derive(Debug)]
pub enum SignOutStep {
    /// The client showed that it means whoever is signed in here, or nobody is: the person is signed out and goes back.
    AtOnce,
    /// The person is asked.
    Ask(Box<LoginSession>),
    /// Nobody is signed in here, and anybody may have sent the person: they are told, and sent nowhere.
    Nobody,
}

/// A registered address to go back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Back {
    /// As it was registered or requested.
    pub uri: RedirectUri,
    /// The same with the client's `state`.
    pub address: String,
}

/// Why a person is neither asked nor signed out. It is shown to them, never redirected (A-104, B-058).
#[derive(Debug, thiserror::Error)]
pub enum SignOutError {
    /// The hint is no ID token of ours, or was changed.
    #[error("id_token_hint is not an ID token of this server")]
    Hint,
    /// The hint was issued to another client than the one that is named.
    #[error("id_token_hint was issued to another client")]
    OtherClient,
    /// Nobody registered the client.
    #[error("client is not registered")]
    ClientUnknown,
    /// The client did not register the address to go back to.
    #[error("post_logout_redirect_uri is not registered")]
    NotRegistered,
    /// Something could not be read.
    #[error("sign-out could not be judged")]
    Store(#[from] StoreError),
}

/// Judges a request. Without a client there is nothing to judge an address by, and then there is none.
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
    let step = match (hint, session) {
        (Some(hint), Some(session)) if hint.subject != session.user => SignOutStep::Ask(Box::new(session)),
        // Anybody can publish a document and get an ID token for it: a hint about somebody who is not here sends nobody anywhere.
        (Some(_), None) if client.as_ref().is_some_and(|client| client.origin == ClientOrigin::Document) => {
            SignOutStep::Nobody
        }
        (Some(_), _) => SignOutStep::AtOnce,
        (None, Some(session)) => SignOutStep::Ask(Box::new(session)),
        (None, None) => SignOutStep::Nobody,
    };
    Ok(SignOutJudged { step, client, back })
}

/// The client that is named, or that the hint was issued to. One that was removed since has no addresses any more.
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

/// Compared as redirect URIs are, and judged as they are: an older build took more, addresses of ours among them.
fn registered(context: &Context, client: &Client, requested: &str) -> Option<RedirectUri> {
    if context.policy.own_origin().is_reached_by(requested) {
        return None;
    }
    let uris = client.metadata.display.post_logout_redirect_uris.iter();
    uris.map(|uri| RedirectUri::from_trusted(uri.clone())).find_map(|uri| uri.admitted(requested))
}

/// Signs out whoever is signed in at this browser, and ends what was granted in the session for the time that they are there. The
/// answer says who is to be told.
pub async fn sign_out(context: &Context, browser: &Browser) -> Result<Vec<LogoutNotice>, StoreError> {
    let Some(session) = find_login(context, browser.login.as_ref()).await? else { return Ok(Vec::new()) };
    let told = notices(context, session.user, Some(session.id)).await?;
    let (user, now) = (session.user, context.clock.now());
    context.storage.sign_out(SignOut { user, session: session.id, keeps: Scope::OfflineAccess, now }).await?;
    tracing::info!(user.id = %user, "signed out");
    Ok(told)
}
