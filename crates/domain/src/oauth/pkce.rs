//! Proof Key for Code Exchange (RFC 7636), S256 only.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Why a challenge is refused at the authorization endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeChallengeRejected {
    /// The method is `plain`, missing or unknown.
    #[error("code_challenge_method must be S256")]
    Method,
    /// Not the base64url form of 32 bytes.
    #[error("code_challenge must be 43 characters of base64url")]
    Form,
    /// There is a method but no challenge.
    #[error("code_challenge_method is given without code_challenge")]
    Missing,
}

/// The SHA-256 of a verifier that only the client knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CodeChallenge([u8; 32]);

impl CodeChallenge {
    /// Checks the two parameters of the authorization request.
    pub fn judge(
        challenge: Option<&str>,
        method: Option<&str>,
    ) -> Result<Option<Self>, CodeChallengeRejected> {
        let Some(challenge) = challenge else {
            return if method.is_some() { Err(CodeChallengeRejected::Missing) } else { Ok(None) };
        };
        if method != Some("S256") {
            return Err(CodeChallengeRejected::Method);
        }
        let bytes = URL_SAFE_NO_PAD.decode(challenge).map_err(|_| CodeChallengeRejected::Form)?;
        bytes.try_into().map(|bytes| Some(Self(bytes))).map_err(|_| CodeChallengeRejected::Form)
    }

    /// Does the verifier belong to this challenge? Runs in constant time.
    pub fn admits(&self, verifier: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(verifier.as_bytes()).into();
        is_verifier(verifier) && bool::from(digest.ct_eq(&self.0))
    }

    /// Wraps a challenge from storage or the session.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for storage and for the session.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Can this be a verifier at all: 43 to 128 of the characters that RFC 7636 section 4.1 allows?
pub fn is_verifier(text: &str) -> bool {
    (43..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

impl fmt::Debug for CodeChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeChallenge(..)")
    }
}
