//! A client sends a person to us: the request is judged. Nothing is written, but where the client wants an answer without a
//! page, and a login session can give one.

use countersign_domain::authorization::{self, Judged};
use countersign_domain::client::ClientOrigin;
use countersign_domain::error::OAuthError;
use countersign_domain::parameters::Parameters;
use countersign_domain::pending::PendingAuthorization;
use countersign_ports::StoreError;

use crate::continue_session::{self, ContinueSessionError};
use crate::login::{Browser, find_login};
use crate::{Context, answer};

/// Why an authorization does not begin. The two ways to say so cannot be mixed up.
#[derive(Debug, thiserror::Error)]
pub enum BeginAuthorizationError {
    /// Client or redirect URI are not known to be good: the person is told, nothing is redirected.
    #[error("authorization request cannot be answered by a redirect")]
    ShowPage(#[source] OAuthError),
    /// Everything else: the client is told.
    #[error("authorization request is refused")]
    Redirect {
        /// The whole address, with `error`, `error_description`, `state` and `iss`.
        to: String,
        /// What it says.
        #[source]
        error: OAuthError,
    },
    /// The client could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// What follows from a good request.
#[derive(Debug)]
pub enum Begun {
    /// A page asks the person.
    Ask(Box<PendingAuthorization>),
    /// The client is answered at once, with a code.
    Answered {
        /// The whole address.
        to: String,
    },
}

/// Judges an authorization request.
pub async fn begin_authorization(
    context: &Context,
    parameters: &Parameters,
    browser: &Browser,
) -> Result<Begun, BeginAuthorizationError> {
    let now = context.clock.now();
    let id = authorization::find_client(parameters).map_err(BeginAuthorizationError::ShowPage)?;
    let client = context.storage.find_client(id).await?;
    let client = client.ok_or_else(|| BeginAuthorizationError::ShowPage(authorization::unknown_client()))?;
    let redirect_uri =
        authorization::find_redirect_uri(parameters, &client).map_err(BeginAuthorizationError::ShowPage)?;
    let judged =
        authorization::judge(now, parameters, &client, redirect_uri.clone(), &context.policy.lifetimes);
    let Judged { pending, silent } = judged.map_err(|error| {
        let state = authorization::state(parameters);
        let to = answer::with_error(&context.policy, &redirect_uri, state.as_deref(), &error);
        BeginAuthorizationError::Redirect { to, error }
    })?;
    if !silent {
        return Ok(Begun::Ask(Box::new(pending)));
    }
    let Some(session) = find_login(context, browser.login.as_ref()).await? else {
        return Err(refuse(context, &pending, authorization::login_required()));
    };
    // Anybody can register a client, with any name: a person always sees it before it learns who they are.
    if client.origin == ClientOrigin::SelfRegistered {
        return Err(refuse(context, &pending, authorization::consent_required()));
    }
    match continue_session::grant(context, &pending, session).await {
        Ok(to) => Ok(Begun::Answered { to }),
        Err(ContinueSessionError::Store(error)) => Err(error.into()),
        Err(ContinueSessionError::ConsentMissing) => {
            Err(refuse(context, &pending, authorization::consent_required()))
        }
        Err(
            ContinueSessionError::SessionEnded
            | ContinueSessionError::RequestSpent
            | ContinueSessionError::Email(_),
        ) => Err(refuse(context, &pending, authorization::login_required())),
    }
}

/// Refuses a request that passed the judgement but cannot be kept, by a redirect.
pub fn refuse(
    context: &Context,
    pending: &PendingAuthorization,
    error: OAuthError,
) -> BeginAuthorizationError {
    let to = answer::with_error(&context.policy, &pending.redirect_uri, pending.state.as_deref(), &error);
    BeginAuthorizationError::Redirect { to, error }
}
