//! Authorization codes: what a client presents to redeem a grant, and the checks on it.
//!
//! Everything checked here is fixed when the person signs. The one thing that changes is whether the code was
//! already redeemed. The storage operation itself guards that, so two redemptions cannot race.

use time::OffsetDateTime;

use crate::grant::Grant;
use crate::id::ClientId;
use crate::redirect_uri::RedirectUri;
use crate::secret::Secret;

/// A code at the token endpoint, from a client that has authenticated.
#[derive(Clone, Debug)]
pub struct PresentedCode<'a> {
    /// The code.
    pub code: &'a Secret,
    /// The client that presents it.
    pub client: ClientId,
    /// The redirect URI that the client says the code was sent to; `None` if no browser was redirected.
    pub redirect_uri: Option<&'a str>,
    /// Its PKCE verifier.
    pub verifier: Option<&'a str>,
}

/// Why a code is not accepted. Clients get the same answer for all reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeRejected {
    /// There is no such code.
    #[error("code is unknown")]
    Unknown,
    /// The code was issued to another client, and stays valid for that client.
    #[error("code belongs to another client")]
    OtherClient,
    /// The code was already redeemed. Its tokens must be revoked.
    #[error("code was already redeemed")]
    Replayed,
    /// The code belongs to a device, which redeems it with another grant type. It stays valid there.
    #[error("code belongs to a device")]
    OfDevice,
    /// The grant was revoked.
    #[error("grant was revoked")]
    Revoked,
    /// The redirect URI is not the one that the code was sent to.
    #[error("redirect_uri is not the one that the code was sent to")]
    RedirectMismatch,
    /// The code has expired.
    #[error("code has expired")]
    Expired,
    /// The request had a PKCE challenge, and the verifier is missing or wrong. The code can no longer be
    /// used.
    #[error("code_verifier does not match the code_challenge")]
    VerifierMismatch,
    /// The verifier belongs to a code without a challenge: someone removed the challenge on the way (RFC 9700
    /// section 4.8.2).
    #[error("code_verifier was sent, but the request had no code_challenge")]
    VerifierUnexpected,
}

impl Grant {
    /// Checks a presented code.
    pub fn admit_code(&self, now: OffsetDateTime, presented: &PresentedCode<'_>) -> Result<(), CodeRejected> {
        if !self.code_hash.admits(presented.code) {
            return Err(CodeRejected::Unknown);
        }
        if self.client != presented.client {
            return Err(CodeRejected::OtherClient);
        }
        if self.redeemed {
            return Err(CodeRejected::Replayed);
        }
        if self.revoked {
            return Err(CodeRejected::Revoked);
        }
        if self.redirect_uri.as_ref().map(RedirectUri::as_str) != presented.redirect_uri {
            return Err(CodeRejected::RedirectMismatch);
        }
        if now >= self.code_expires_at {
            return Err(CodeRejected::Expired);
        }
        match (&self.code_challenge, presented.verifier) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(CodeRejected::VerifierUnexpected),
            (Some(challenge), Some(verifier)) if challenge.admits(verifier) => Ok(()),
            (Some(_), _) => Err(CodeRejected::VerifierMismatch),
        }
    }
}
