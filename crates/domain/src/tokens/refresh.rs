//! Refreshing: the checks on a presented refresh token (RFC 6749 section 6, RFC 9700 section 4.14).

use time::{Duration, OffsetDateTime};

use crate::grant::Grant;
use crate::id::{ClientId, TokenId};
use crate::lifetimes::TokenLifetimes;
use crate::listener::Listener;
use crate::scope::ScopeSet;
use crate::secret::Secret;
use crate::token::Token;

/// What storage knows about a refresh token: the token, its grant, and the newest token of the family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshSnapshot {
    /// The token that was presented.
    pub token: Token,
    /// Its grant.
    pub grant: Grant,
    /// The newest token of the family. It is `token` itself if nothing was rotated.
    pub newest: NewestToken,
}

/// The newest token of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewestToken {
    /// Its id.
    pub id: TokenId,
    /// The token that was refreshed to get it.
    pub parent: Option<TokenId>,
    /// When it was issued.
    pub issued_at: OffsetDateTime,
}

/// A rotation that can go ahead if the family has not changed in the meantime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The token that must still be the family's newest.
    pub expected_newest: TokenId,
    /// The scopes of the new access token.
    pub scope: ScopeSet,
}

/// Why a refresh token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefreshRejected {
    /// It is not a refresh token but a JWT: an access token or an ID token.
    #[error("refresh token is a JWT")]
    OtherToken,
    /// There is no such token.
    #[error("refresh token is unknown")]
    Unknown,
    /// It belongs to another client. That client's family stays alive.
    #[error("refresh token belongs to another client")]
    OtherClient,
    /// The grant was revoked.
    #[error("grant was revoked")]
    Revoked,
    /// The operator does not let the user in any more. The family stays alive, because that may change again.
    #[error("user is no longer admitted")]
    NotAdmitted,
    /// It was already rotated: someone has a copy, so the family must be revoked.
    #[error("refresh token was already rotated")]
    Reused,
    /// It has expired.
    #[error("refresh token has expired")]
    Expired,
    /// The request asks for scopes that were not granted.
    #[error("scope goes beyond what was granted")]
    ScopeWidened,
}

impl RefreshRejected {
    /// What the client hears of it; `None` if all it hears is that the token is not valid. What the request
    /// alone shows, everyone hears; the rest would tell a thief how old the stolen token is. No caller learns
    /// whether the user was blocked, which revokes the grant, or lost a group.
    pub fn told_to(self, listener: Listener) -> Option<Self> {
        match (listener, self) {
            (Listener::Developer, Self::NotAdmitted) => Some(Self::Revoked),
            (Listener::Developer, _) | (_, Self::OtherToken | Self::ScopeWidened) => Some(self),
            (Listener::ProvenClient, Self::Expired) => Some(self),
            (
                Listener::ProvenClient | Listener::Anyone,
                Self::Unknown
                | Self::OtherClient
                | Self::Revoked
                | Self::NotAdmitted
                | Self::Reused
                | Self::Expired,
            ) => None,
        }
    }

    /// Why a text cannot be a refresh token of ours: ours have no dots, and a JWT has two.
    pub fn of_form(presented: &Secret) -> Self {
        let is_jwt = presented.expose().split('.').count() == 3 && presented.expose().starts_with("eyJ");
        if is_jwt { Self::OtherToken } else { Self::Unknown }
    }
}

impl RefreshSnapshot {
    /// The same token under lifetimes that may be shorter than those it was issued with.
    #[must_use]
    pub fn under(mut self, lifetimes: TokenLifetimes) -> Self {
        if let Some(refresh) = &mut self.token.refresh {
            let ends = lifetimes.refresh_ends(self.token.issued_at, self.grant.authenticated_at);
            refresh.expires_at = refresh.expires_at.min(ends);
        }
        self
    }

    /// Checks a presented refresh token. Within `grace`, a token whose successor was never refreshed can be
    /// presented again, because the answer with the successor may have been lost. The successor is then
    /// replaced, so that there is never a second live branch.
    pub fn admit(
        &self,
        now: OffsetDateTime,
        presented: &Secret,
        client: ClientId,
        requested_scope: Option<&ScopeSet>,
        grace: Duration,
    ) -> Result<Rotation, RefreshRejected> {
        let Some(refresh) = &self.token.refresh else { return Err(RefreshRejected::Unknown) };
        if !refresh.hash.admits(presented) {
            return Err(RefreshRejected::Unknown);
        }
        if self.grant.client != client {
            return Err(RefreshRejected::OtherClient);
        }
        if self.grant.revoked {
            return Err(RefreshRejected::Revoked);
        }
        let is_newest = self.newest.id == self.token.id;
        // Without a grace period no time is compared: `now` may have been read before a faster request issued
        // the successor.
        let successor_is_fresh = grace.is_positive()
            && self.newest.parent == Some(self.token.id)
            && now < self.newest.issued_at + grace;
        if !is_newest && !successor_is_fresh {
            return Err(RefreshRejected::Reused);
        }
        if now >= refresh.expires_at {
            return Err(RefreshRejected::Expired);
        }
        // A narrower access token does not narrow later ones: the grant decides.
        let scope = requested_scope.unwrap_or(&self.grant.scope);
        if !scope.is_subset_of(&self.grant.scope) {
            return Err(RefreshRejected::ScopeWidened);
        }
        Ok(Rotation { expected_newest: self.newest.id, scope: scope.clone() })
    }
}
