//! Pushed authorization requests (RFC 9126): what a client sends ahead, and the short reference that its
//! browser carries.

use time::{Duration, OffsetDateTime};

use crate::authorization::SINGLE;
use crate::error::{OAuthError, OAuthErrorCode};
use crate::id::{ClientId, PushedRequestId};
use crate::parameters::Parameters;
use crate::secret::{Secret, SecretHash};

/// How long a pushed request waits for its browser.
pub const LIFETIME: Duration = Duration::seconds(60);

/// The prefix of our `request_uri`s. The secret comes after it.
const PREFIX: &str = "urn:ietf:params:oauth:request_uri:";

/// The most bytes that a client can push: as much as a URL can hold.
const MAX_LENGTH: usize = 16 * 1024;

/// A pushed request as stored. Nothing about it changes, and it is taken only once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedRequest {
    /// Its id, which the secret contains.
    pub id: PushedRequestId,
    /// The client that pushed it. No other client can use it.
    pub client: ClientId,
    /// The hash of the secret in its `request_uri`.
    pub secret_hash: SecretHash,
    /// The parameters, encoded as a form.
    pub parameters: String,
    /// When it expires.
    pub expires_at: OffsetDateTime,
}

/// The pushed parameters that are stored: those that an authorization request knows. The client's credentials
/// are not among them.
pub fn keep(parameters: &Parameters) -> Result<String, OAuthError> {
    let names: Vec<&str> = SINGLE.into_iter().chain(["redirect_uri", "resource"]).collect();
    let form = parameters.only(&names).to_form();
    if form.len() > MAX_LENGTH {
        return Err(OAuthError::new(OAuthErrorCode::InvalidRequest, "the parameters are longer than 16 KiB"));
    }
    Ok(form)
}

/// Refuses a request that refers to another one (RFC 9126 section 2.1).
pub fn refuse_reference(parameters: &Parameters) -> Result<(), OAuthError> {
    match parameters.all("request_uri").next() {
        Some(_) => Err(OAuthError::new(OAuthErrorCode::InvalidRequest, "request_uri cannot be pushed")),
        None => Ok(()),
    }
}

/// Writes the `request_uri` for a secret.
pub fn request_uri(secret: &Secret) -> String {
    format!("{PREFIX}{}", secret.expose())
}

/// Extracts the secret from a `request_uri`; `None` if it is not one of ours.
pub fn secret_in(request_uri: &str) -> Option<Secret> {
    request_uri.strip_prefix(PREFIX).map(Secret::new)
}

/// The refusal of a `request_uri` that leads to nothing. It does not say why.
pub fn not_there() -> OAuthError {
    OAuthError::new(
        OAuthErrorCode::InvalidRequestUri,
        "request_uri is unknown, expired, used or another client's",
    )
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_109_nothing_that_proves_the_client_is_kept() {
        let pairs = [
            ("client_id", "a"),
            ("client_secret", "hush"),
            ("client_assertion", "hush"),
            ("state", "s"),
            ("resource", "urn:a"),
            ("redirect_uri", "https://a.example/cb"),
            ("whatever", "x"),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let kept = keep(&Parameters::new(pairs)).unwrap();
        assert_eq!(kept, "state=s&resource=urn%3Aa&redirect_uri=https%3A%2F%2Fa.example%2Fcb");
    }

    #[test]
    fn a_109_a_request_uri_of_ours_is_told_from_others() {
        let secret = Secret::with_id(Uuid::from_u128(7), [1; 32]);
        assert_eq!(secret_in(&request_uri(&secret)), Some(secret));
        assert_eq!(secret_in("https://client.example/request.jwt"), None);
        assert_eq!(secret_in(""), None);
    }

    #[test]
    fn a_request_that_is_too_long_is_not_kept() {
        let long = Parameters::new(vec![("state".to_owned(), "é".repeat(4_096))]);
        assert_eq!(keep(&long).unwrap_err().code, OAuthErrorCode::InvalidRequest);
    }
}
