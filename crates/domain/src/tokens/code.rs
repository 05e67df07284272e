//! Authorization codes: what a client presents to redeem a grant, and the checks on it.
//!
//! Everything checked here is fixed when the person signs. The one thing that changes is whether the code was
//! already redeemed. The storage operation itself guards that, so two redemptions cannot race.

use time::OffsetDateTime;

use crate::grant::Grant;
use crate::id::ClientId;
use crate::listener::Listener;
use crate::pkce::is_verifier;
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

/// Why a code is not accepted. [`CodeRejected::told_to`] decides who hears which of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeRejected {
    /// No code of this server looks like it.
    #[error("code does not have the form of a code")]
    Malformed,
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
    /// The operator does not let the user in any more. The code stays valid until it expires.
    #[error("user is no longer admitted")]
    NotAdmitted,
    /// The redirect URI is not the one that the code was sent to.
    #[error("redirect_uri is not the one that the code was sent to")]
    RedirectMismatch,
    /// The code has expired.
    #[error("code has expired")]
    Expired,
    /// The request had a PKCE challenge, and the verifier is missing. The code can no longer be used.
    #[error("code_verifier is missing")]
    VerifierMissing,
    /// The request had a PKCE challenge, and this cannot be a verifier. The code can no longer be used.
    #[error("code_verifier does not have the form of a verifier")]
    VerifierMalformed,
    /// The request had a PKCE challenge, and the verifier is another one's. The code can no longer be used.
    #[error("code_verifier does not match the code_challenge")]
    VerifierMismatch,
    /// The verifier belongs to a code without a challenge: someone removed the challenge on the way (RFC 9700
    /// section 4.8.2).
    #[error("code_verifier was sent, but the request had no code_challenge")]
    VerifierUnexpected,
}

impl CodeRejected {
    /// What the client hears of it; `None` if all it hears is that the code is not valid.
    ///
    /// What the request alone shows, everyone hears. A client that proved who it is also hears what is wrong
    /// with its own request about its own code. A caller who may have stolen a code does not learn whether it
    /// is known, was used, is another client's, or has another verifier. No caller at all learns whether the
    /// user was blocked, which revokes the grant, or lost a group.
    pub fn told_to(self, listener: Listener, presented: &PresentedCode<'_>) -> Option<Self> {
        match (listener, self) {
            (Listener::Developer, Self::NotAdmitted) => Some(Self::Revoked),
            (Listener::Developer, _) | (_, Self::Malformed) => Some(self),
            (
                Listener::ProvenClient,
                Self::RedirectMismatch
                | Self::Expired
                | Self::VerifierMissing
                | Self::VerifierMalformed
                | Self::VerifierUnexpected,
            ) => Some(self),
            (
                Listener::ProvenClient,
                Self::Unknown
                | Self::OtherClient
                | Self::Replayed
                | Self::OfDevice
                | Self::Revoked
                | Self::NotAdmitted
                | Self::VerifierMismatch,
            ) => None,
            // A public client always needs a verifier, whatever the code.
            (Listener::Anyone, _) => match presented.verifier {
                None => Some(Self::VerifierMissing),
                Some(verifier) => (!is_verifier(verifier)).then_some(Self::VerifierMalformed),
            },
        }
    }
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
            (Some(_), None) => Err(CodeRejected::VerifierMissing),
            (Some(challenge), Some(verifier)) if challenge.admits(verifier) => Ok(()),
            (Some(_), Some(verifier)) if is_verifier(verifier) => Err(CodeRejected::VerifierMismatch),
            (Some(_), Some(_)) => Err(CodeRejected::VerifierMalformed),
        }
    }
}
