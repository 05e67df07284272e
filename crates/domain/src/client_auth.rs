//! What a client presents to prove who it is, and the judgement on it (RFC 6749 section 2.3).

use crate::client::{Client, ClientAuthentication};
use crate::secret::Secret;

/// What came with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCredentials {
    /// The claimed identifier, as it was written.
    pub client_id: String,
    /// The secret, where one came.
    pub secret: Option<Secret>,
}

/// Why a client is not believed. The outside hears one answer for all but the missing secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientRejected {
    /// Nobody registered with this id.
    #[error("client is not registered")]
    Unknown,
    /// The client has a secret and did not send it.
    #[error("client_secret is missing")]
    SecretMissing,
    /// The secret is another one.
    #[error("client secret does not match")]
    SecretMismatch,
    /// A public client sent a secret; it has none.
    #[error("client has no secret")]
    SecretUnexpected,
}

/// Judges the credentials against what was registered.
pub fn judge(client: Option<&Client>, credentials: &ClientCredentials) -> Result<(), ClientRejected> {
    let Some(client) = client else {
        return Err(match credentials.secret {
            Some(_) => ClientRejected::Unknown,
            None => ClientRejected::SecretMissing,
        });
    };
    match (&client.authentication, &credentials.secret) {
        (ClientAuthentication::Public, None) => Ok(()),
        (ClientAuthentication::Public, Some(_)) => Err(ClientRejected::SecretUnexpected),
        (ClientAuthentication::Secret { .. }, None) => Err(ClientRejected::SecretMissing),
        (ClientAuthentication::Secret { hash, .. }, Some(secret)) if hash.admits(secret) => Ok(()),
        (ClientAuthentication::Secret { .. }, Some(_)) => Err(ClientRejected::SecretMismatch),
    }
}
