//! A client sends an authorization request ahead (RFC 9126). It is judged at once, and kept for a minute.

use countersign_domain::authorization::Judged;
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::error::OAuthError;
use countersign_domain::id::PushedRequestId;
use countersign_domain::parameters::Parameters;
use countersign_domain::pushed_request::{self, PushedRequest};
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{EntropyExt, StoreError};

use crate::clients::authenticate_client::authenticate_client;
use crate::sign_in::begin_authorization::{find_redirect_uri, judge};
use crate::steps::prove_key::{Wanted, prove_key};
use crate::{AuthenticateClientError, Context, ProveKeyError};

/// Why a request is not kept.
#[derive(Debug, thiserror::Error)]
pub enum PushAuthorizationError {
    /// The client could not be authenticated.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// The request would be refused.
    #[error("pushed request is refused")]
    Refused(#[source] OAuthError),
    /// The DPoP proof is missing or not valid.
    #[error(transparent)]
    Key(#[from] ProveKeyError),
    /// It could not be stored.
    #[error("pushed request could not be stored")]
    Store(#[from] StoreError),
}

/// What the browser brings in place of the request.
#[derive(Clone, Debug)]
pub struct Pushed {
    /// The `request_uri`.
    pub request_uri: String,
    /// How many seconds it is valid.
    pub expires_in: i64,
}

/// Keeps a request that the authorization endpoint would accept. A DPoP proof binds the code to its key, as
/// `dpop_jkt` does (RFC 9449 section 10.1).
pub async fn push_authorization(
    context: &Context,
    credentials: &ClientCredentials,
    parameters: &Parameters,
    proof: Option<&str>,
) -> Result<Pushed, PushAuthorizationError> {
    let now = context.clock.now();
    let client = authenticate_client(context, credentials).await?;
    let refused = PushAuthorizationError::Refused;
    pushed_request::refuse_reference(parameters).map_err(refused)?;
    let redirect_uri = find_redirect_uri(context, parameters, &client).map_err(refused)?;
    // The request is kept as it came, because its times begin when the browser brings it.
    let judged: Judged = judge(context, now, parameters, &client, redirect_uri).await?.map_err(refused)?;
    let mut kept = parameters.clone();
    if let Some(proof) = proof {
        let named = judged.pending.client_request().and_then(|request| request.key);
        let wanted = Wanted { method: "POST", path: "/oauth/par", access_token: None, key: named };
        let key = prove_key(context, now, proof, wanted).await?;
        if named.is_none() {
            kept = kept.with("dpop_jkt", key.to_string());
        }
    }
    let id = PushedRequestId::at(now, context.entropy.bytes());
    let secret = Secret::with_id(id.as_uuid(), context.entropy.bytes());
    let request = PushedRequest {
        id,
        client: client.id,
        secret_hash: SecretHash::of(&secret),
        parameters: pushed_request::keep(&kept).map_err(refused)?,
        expires_at: now + pushed_request::LIFETIME,
    };
    context.storage.push_request(request).await?;
    Ok(Pushed {
        request_uri: pushed_request::request_uri(&secret),
        expires_in: pushed_request::LIFETIME.whole_seconds(),
    })
}
