//! A judged authorization request that waits for its signature.

use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::challenge::{ChallengeDigest, IssuedChallenge};
use crate::id::{ClientId, GrantId};
use crate::pkce::CodeChallenge;
use crate::redirect_uri::RedirectUri;
use crate::scope::ScopeSet;
use crate::wallet::WalletAccount;

/// How many challenges of one request are remembered; an older one gives way.
pub const MAX_CHALLENGES: usize = 5;

/// A judged authorization request. It lives sealed in the person's session cookie and nowhere else, so nobody can
/// make the store grow by asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingAuthorization {
    /// Which client asks.
    pub client: ClientId,
    /// Where the answer goes.
    pub redirect_uri: RedirectUri,
    /// What would be granted.
    pub scope: ScopeSet,
    /// The client's own value, given back byte for byte.
    pub state: Option<String>,
    /// OpenID Connect's replay protection, given back in the ID token.
    pub nonce: Option<String>,
    /// PKCE.
    pub code_challenge: Option<CodeChallenge>,
    /// The address that the client thinks will sign; never believed.
    pub login_hint: Option<String>,
    /// When the request is forgotten.
    pub expires_at: OffsetDateTime,
    /// The challenges that were issued for it, oldest first.
    pub challenges: Vec<IssuedChallenge>,
}

/// Why a challenge is not taken. The outside hears one answer for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChallengeRejected {
    /// Not issued for this session, request and account.
    #[error("challenge was not issued for this session, request and account")]
    Unknown,
    /// Too old.
    #[error("challenge has expired")]
    Expired,
    /// Answered wrongly too often.
    #[error("challenge was answered wrongly too often")]
    Exhausted,
}

impl PendingAuthorization {
    /// Does the request still wait?
    pub fn is_live(&self, now: OffsetDateTime) -> bool {
        now < self.expires_at
    }

    /// Is this the request that the page or the client means?
    pub fn is(&self, client_id: &str, redirect_uri: &str, state: Option<&str>) -> bool {
        self.client.to_string() == client_id
            && self.redirect_uri.as_str() == redirect_uri
            && self.state.as_deref() == state
    }

    /// A short name for this request among the few of one session, so that a page can be loaded again.
    pub fn label(&self) -> String {
        let mut hash = Sha256::new();
        for part in
            [&self.client.to_string(), self.redirect_uri.as_str(), self.state.as_deref().unwrap_or_default()]
        {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hex::encode(&hash.finalize()[..4])
    }

    /// Remembers a challenge; beyond [`MAX_CHALLENGES`] the oldest is forgotten.
    pub fn remember(&mut self, challenge: IssuedChallenge) {
        if self.challenges.len() >= MAX_CHALLENGES {
            self.challenges.remove(0);
        }
        self.challenges.push(challenge);
    }

    /// Finds the challenge whose text was presented for this account.
    ///
    /// The text that is presented is compared with the fingerprint of what we issued, never parsed: whatever else it
    /// says, wherever else its nonce stands, it is not ours (B-001 to B-006).
    pub fn admit(
        &self,
        now: OffsetDateTime,
        account: &WalletAccount,
        text: &str,
    ) -> Result<GrantId, ChallengeRejected> {
        let challenge = self.challenge(account, text).ok_or(ChallengeRejected::Unknown)?;
        if challenge.is_live(now) {
            Ok(challenge.id)
        } else if now >= challenge.expires_at {
            Err(ChallengeRejected::Expired)
        } else {
            Err(ChallengeRejected::Exhausted)
        }
    }

    /// The challenge that has this text for this account, live or not.
    pub fn challenge(&self, account: &WalletAccount, text: &str) -> Option<&IssuedChallenge> {
        let presented = ChallengeDigest::of(account, text);
        self.challenges.iter().find(|challenge| challenge.digest.is(&presented))
    }

    /// Counts a signature that failed.
    pub fn count_failure(&mut self, id: GrantId) {
        if let Some(challenge) = self.challenges.iter_mut().find(|challenge| challenge.id == id) {
            challenge.failures = challenge.failures.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests;
