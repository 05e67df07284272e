//! The headers of our tokens. Each key has a different one for each kind of token, so that no kind can pass
//! for another.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::signing_algorithm::SigningAlgorithm;

/// A kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenType {
    Access,
    Id,
    Logout,
    Checkpoint,
    SecurityEvent,
}

impl TokenType {
    /// The `typ` of RFC 9068 section 2.1, RFC 7519 section 5.1, OpenID Connect Back-Channel Logout
    /// section 2.4, and RFC 8417 section 2.3; that of checkpoints is our own.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Access => "at+jwt",
            Self::Id => "JWT",
            Self::Logout => "logout+jwt",
            Self::Checkpoint => "countersign-checkpoint+jwt",
            Self::SecurityEvent => "secevent+jwt",
        }
    }

    /// The protected header in base64url, with the dot that follows it.
    pub(super) fn header(self, algorithm: SigningAlgorithm, kid: &str) -> String {
        let header = format!(r#"{{"typ":"{}","alg":"{}","kid":"{kid}"}}"#, self.name(), algorithm.name());
        format!("{}.", URL_SAFE_NO_PAD.encode(header))
    }
}
