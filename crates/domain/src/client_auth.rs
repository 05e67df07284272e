//! What a client presents to prove who it is, and the judgement on it (RFC 6749 section 2.3).

use crate::client::{Client, ClientAuthentication};
use crate::secret::Secret;

/// What came with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCredentials {
    /// The claimed identifier, as it was written.
    pub client_id: String,
    /// What came as a proof.
    pub proof: ClientProof,
}

/// How a client proves who it is in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientProof {
    /// Not at all.
    None,
    /// By its secret.
    Secret(Secret),
    /// By something that it signed: a JWT (RFC 7523).
    Assertion(String),
}

impl From<Option<Secret>> for ClientProof {
    fn from(secret: Option<Secret>) -> Self {
        secret.map_or(Self::None, Self::Secret)
    }
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
    /// The client proves itself in another way, or not at all.
    #[error("client proves itself in another way")]
    OtherMethod,
    /// The client proves itself by signatures, and sent none.
    #[error("client_assertion is missing")]
    AssertionMissing,
    /// What it signed is not good, or came before.
    #[error("client_assertion is not good")]
    AssertionRejected,
}

/// What is to be done about a client that is believed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged<'a> {
    /// Nothing: it is who it says.
    Proven,
    /// It signed this; whether with its key, and never before, is for others to find out.
    Signed(&'a str),
}

/// Judges the credentials against what was registered.
pub fn judge<'a>(
    client: Option<&Client>,
    credentials: &'a ClientCredentials,
) -> Result<Judged<'a>, ClientRejected> {
    let Some(client) = client else {
        return Err(match credentials.proof {
            ClientProof::Secret(_) | ClientProof::Assertion(_) => ClientRejected::Unknown,
            ClientProof::None => ClientRejected::SecretMissing,
        });
    };
    match (&client.authentication, &credentials.proof) {
        (ClientAuthentication::Public, ClientProof::None) => Ok(Judged::Proven),
        (ClientAuthentication::Secret { .. }, ClientProof::None) => Err(ClientRejected::SecretMissing),
        (ClientAuthentication::Secret { hash, .. }, ClientProof::Secret(secret)) if hash.admits(secret) => {
            Ok(Judged::Proven)
        }
        (ClientAuthentication::Secret { .. }, ClientProof::Secret(_)) => Err(ClientRejected::SecretMismatch),
        (ClientAuthentication::Keys, ClientProof::Assertion(assertion)) => Ok(Judged::Signed(assertion)),
        (ClientAuthentication::Keys, ClientProof::None) => Err(ClientRejected::AssertionMissing),
        (ClientAuthentication::Public, ClientProof::Secret(_) | ClientProof::Assertion(_))
        | (ClientAuthentication::Secret { .. }, ClientProof::Assertion(_))
        | (ClientAuthentication::Keys, ClientProof::Secret(_)) => Err(ClientRejected::OtherMethod),
    }
}
