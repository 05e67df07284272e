//! A client sends a person to us: the request is judged and nothing is written.

use countersign_domain::authorization;
use countersign_domain::error::OAuthError;
use countersign_domain::parameters::Parameters;
use countersign_domain::pending::PendingAuthorization;
use countersign_ports::StoreError;

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

/// Judges an authorization request.
pub async fn begin_authorization(
    context: &Context,
    parameters: &Parameters,
) -> Result<PendingAuthorization, BeginAuthorizationError> {
    let now = context.clock.now();
    let id = authorization::find_client(parameters).map_err(BeginAuthorizationError::ShowPage)?;
    let client = context.storage.find_client(id).await?;
    let client = client.ok_or_else(|| BeginAuthorizationError::ShowPage(authorization::unknown_client()))?;
    let redirect_uri =
        authorization::find_redirect_uri(parameters, &client).map_err(BeginAuthorizationError::ShowPage)?;
    authorization::judge(now, parameters, &client, redirect_uri.clone(), &context.policy.lifetimes).map_err(
        |error| {
            let state = authorization::state(parameters);
            let to = answer::with_error(&context.policy, &redirect_uri, state.as_deref(), &error);
            BeginAuthorizationError::Redirect { to, error }
        },
    )
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
