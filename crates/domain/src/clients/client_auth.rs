//! The credentials that a client presents, and the check of them (RFC 6749 section 2.3).

use time::OffsetDateTime;

use crate::client::{Client, ClientAuthentication};
use crate::client_secrets::KnownSecret;
use crate::secret::Secret;

/// The credentials in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCredentials {
    /// The claimed id, as written.
    pub client_id: String,
    /// The proof that came with it.
    pub proof: ClientProof,
}

/// How a client authenticates in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientProof {
    /// Not at all.
    None,
    /// With its secret.
    Secret(Secret),
    /// With an assertion: a JWT that it signed (RFC 7523).
    Assertion(String),
}

impl From<Option<Secret>> for ClientProof {
    fn from(secret: Option<Secret>) -> Self {
        secret.map_or(Self::None, Self::Secret)
    }
}

/// Why a client is not authenticated. Clients get the same answer for all reasons except the missing secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientRejected {
    /// No client has this id.
    #[error("client is not registered")]
    Unknown,
    /// The client has a secret but did not send it.
    #[error("client_secret is missing")]
    SecretMissing,
    /// The secret is wrong.
    #[error("client secret does not match")]
    SecretMismatch,
    /// The client uses another method, or none.
    #[error("client uses another authentication method")]
    OtherMethod,
    /// The client must sign, but sent no assertion.
    #[error("client_assertion is missing")]
    AssertionMissing,
    /// The assertion is not valid, or was used before.
    #[error("client_assertion is not valid")]
    AssertionRejected,
}

/// What is still to be done to authenticate a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged<'a> {
    /// Nothing: it is a public client, which has nothing to prove.
    Public,
    /// Nothing: it knows this secret.
    Knows(KnownSecret),
    /// It sent this assertion. The caller must check that its key signed it and that it was not used before.
    Signed(&'a str),
}

/// Checks the credentials against what was registered.
pub fn judge<'a>(
    now: OffsetDateTime,
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
        (ClientAuthentication::Public, ClientProof::None) => Ok(Judged::Public),
        (ClientAuthentication::Secret { .. }, ClientProof::None) => Err(ClientRejected::SecretMissing),
        (ClientAuthentication::Secret { secrets, .. }, ClientProof::Secret(secret)) => {
            secrets.recognize(now, secret).map(Judged::Knows).ok_or(ClientRejected::SecretMismatch)
        }
        (ClientAuthentication::Keys, ClientProof::Assertion(assertion)) => Ok(Judged::Signed(assertion)),
        (ClientAuthentication::Keys, ClientProof::None) => Err(ClientRejected::AssertionMissing),
        (ClientAuthentication::Public, ClientProof::Secret(_) | ClientProof::Assertion(_))
        | (ClientAuthentication::Secret { .. }, ClientProof::Assertion(_))
        | (ClientAuthentication::Keys, ClientProof::Secret(_)) => Err(ClientRejected::OtherMethod),
    }
}
