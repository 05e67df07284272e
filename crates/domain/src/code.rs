//! Codes: what a client presents to redeem a grant, and the judgement on it.
//!
//! Everything judged here is fixed when the person signs. The one thing that changes, whether the code was redeemed
//! before, is guarded by the storage operation itself; the two cannot race.

use time::OffsetDateTime;

use crate::grant::Grant;
use crate::id::ClientId;
use crate::redirect_uri::RedirectUri;
use crate::secret::Secret;

/// What came to the token endpoint, from a client that proved who it is.
#[derive(Clone, Debug)]
pub struct PresentedCode<'a> {
    /// The code.
    pub code: &'a Secret,
    /// Who presents it.
    pub client: ClientId,
    /// The redirect URI that it says the code went to; `None` where no browser was sent anywhere.
    pub redirect_uri: Option<&'a str>,
    /// Its PKCE verifier.
    pub verifier: Option<&'a str>,
}

/// Why a code is not taken. The outside hears one answer for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeRejected {
    /// No such code.
    #[error("code is unknown")]
    Unknown,
    /// The code was issued to another client; it stays good for that one.
    #[error("code belongs to another client")]
    OtherClient,
    /// The code was redeemed before; its tokens must die.
    #[error("code was redeemed before")]
    Replayed,
    /// The code is a device's, which comes by another grant type; it stays good there.
    #[error("code is a device's")]
    OfDevice,
    /// The grant was revoked.
    #[error("grant was revoked")]
    Revoked,
    /// Another redirect URI.
    #[error("redirect_uri is not the one that the code was sent to")]
    RedirectMismatch,
    /// Too old.
    #[error("code has expired")]
    Expired,
    /// PKCE was promised, and the verifier is missing or wrong; the code is burned.
    #[error("code_verifier does not match the code_challenge")]
    VerifierMismatch,
    /// A verifier for a code without a challenge: somebody removed the challenge on the way (RFC 9700 section 4.8.2).
    #[error("code_verifier was sent, but the request had no code_challenge")]
    VerifierUnexpected,
}

impl Grant {
    /// Judges a presented code.
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
