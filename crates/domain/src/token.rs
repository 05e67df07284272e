//! Tokens: one row for each answer of the token endpoint.

use time::OffsetDateTime;

use crate::audience::Audience;
use crate::grant::{Holder, Subject};
use crate::id::{ClientId, GrantId, TokenId};
use crate::key_thumbprint::KeyThumbprint;
use crate::scope::ScopeSet;
use crate::secret::SecretHash;

/// One answer of the token endpoint. Nothing of it changes, but that its access token may be revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The `jti` of the access token; the refresh token carries it too.
    pub id: TokenId,
    /// The family.
    pub grant: GrantId,
    /// The token that was refreshed to get this one.
    pub parent: Option<TokenId>,
    /// What the access token reaches.
    pub scope: ScopeSet,
    /// When it was issued.
    pub issued_at: OffsetDateTime,
    /// What we keep of the access token.
    pub access_hash: SecretHash,
    /// When the access token stops being good.
    pub access_expires_at: OffsetDateTime,
    /// The refresh token, where one was issued.
    pub refresh: Option<RefreshToken>,
    /// The key that the refresh token is bound to, where its client proves itself by nothing else (RFC 9449 section 5).
    pub key: Option<KeyThumbprint>,
}

impl Token {
    /// When the row may be forgotten: nothing in it can be presented any more and mean something.
    pub fn forget_after(&self) -> OffsetDateTime {
        let refresh = self.refresh.as_ref().map_or(self.access_expires_at, |refresh| refresh.expires_at);
        refresh.max(self.access_expires_at)
    }
}

/// The refresh token of one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshToken {
    /// What we keep of it.
    pub hash: SecretHash,
    /// When it stops being good.
    pub expires_at: OffsetDateTime,
}

/// What an access token is found to mean: one read of storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSnapshot {
    /// Its `jti`.
    pub id: TokenId,
    /// What we keep of the access token itself.
    pub access_hash: SecretHash,
    /// What it reaches.
    pub scope: ScopeSet,
    /// When it was issued.
    pub issued_at: OffsetDateTime,
    /// When it stops being good.
    pub expires_at: OffsetDateTime,
    /// Was this one access token revoked?
    pub token_revoked: bool,
    /// Was the whole grant revoked?
    pub grant_revoked: bool,
    /// Its family.
    pub grant: GrantId,
    /// Whose token it is.
    pub client: ClientId,
    /// Who holds it.
    pub holder: Holder,
}

impl AccessSnapshot {
    /// Was it ended before its time, alone or with its grant?
    pub fn was_revoked(&self) -> bool {
        self.token_revoked || self.grant_revoked
    }

    /// Is the access token good now?
    pub fn is_live(&self, now: OffsetDateTime) -> bool {
        !self.was_revoked() && now < self.expires_at
    }
}

/// What a JWT access token says (RFC 9068 section 2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessClaims {
    /// `iss`
    pub issuer: String,
    /// `aud`
    pub audience: Audience,
    /// `sub`
    pub subject: Subject,
    /// `client_id`, as the client writes it
    pub client: String,
    /// `cnf.jkt`: the key that the token is bound to
    pub key: Option<KeyThumbprint>,
    /// `scope`
    pub scope: ScopeSet,
    /// `auth_time`
    pub authenticated_at: OffsetDateTime,
    /// `iat`
    pub issued_at: OffsetDateTime,
    /// `exp`
    pub expires_at: OffsetDateTime,
    /// `jti`
    pub id: TokenId,
}

/// What an access token of ours says. That it is ours is known by the hash of the whole, never by this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessTokenRead {
    /// `jti`
    pub id: TokenId,
    /// `aud`
    pub audience: Vec<String>,
    /// `client_id`
    pub client: String,
    /// `cnf.jkt`
    pub key: Option<KeyThumbprint>,
}
