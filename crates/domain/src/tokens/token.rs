//! Tokens: one row per answer of the token endpoint.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::audience::Audience;
use crate::grant::{Holder, TokenSubject};
use crate::group::GroupName;
use crate::id::{ClientId, GrantId, TokenId};
use crate::key_thumbprint::KeyThumbprint;
use crate::scope::ScopeSet;
use crate::secret::SecretHash;

/// One answer of the token endpoint. Nothing about it changes, except that its access token can be revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The `jti` of the access token. The refresh token contains it too.
    pub id: TokenId,
    /// The grant whose family it belongs to.
    pub grant: GrantId,
    /// The token that was refreshed to get this one.
    pub parent: Option<TokenId>,
    /// The scopes of the access token.
    pub scope: ScopeSet,
    /// When it was issued.
    pub issued_at: OffsetDateTime,
    /// The hash of the access token.
    pub access_hash: SecretHash,
    /// When the access token expires.
    pub access_expires_at: OffsetDateTime,
    /// The refresh token, if one was issued.
    pub refresh: Option<RefreshToken>,
    /// The key that the refresh token is bound to, if its client has no other credential (RFC 9449 section
    /// 5).
    pub key: Option<KeyThumbprint>,
}

impl Token {
    /// When the row can be forgotten, because nothing in it can still be used.
    pub fn forget_after(&self) -> OffsetDateTime {
        let refresh = self.refresh.as_ref().map_or(self.access_expires_at, |refresh| refresh.expires_at);
        refresh.max(self.access_expires_at)
    }
}

/// The refresh token of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshToken {
    /// The hash of the refresh token.
    pub hash: SecretHash,
    /// When it expires.
    pub expires_at: OffsetDateTime,
}

/// What an access token means, from one read of storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSnapshot {
    /// Its `jti`.
    pub id: TokenId,
    /// The hash of the access token.
    pub access_hash: SecretHash,
    /// Its scopes.
    pub scope: ScopeSet,
    /// When it was issued.
    pub issued_at: OffsetDateTime,
    /// When it expires.
    pub expires_at: OffsetDateTime,
    /// Was this one access token revoked?
    pub token_revoked: bool,
    /// Was the whole grant revoked?
    pub grant_revoked: bool,
    /// The grant whose family it belongs to.
    pub grant: GrantId,
    /// The client that it was issued to.
    pub client: ClientId,
    /// Who holds the grant.
    pub holder: Holder,
}

impl AccessSnapshot {
    /// Was it revoked, alone or with its grant?
    pub fn was_revoked(&self) -> bool {
        self.token_revoked || self.grant_revoked
    }

    /// Is the access token valid at this time?
    pub fn is_live(&self, now: OffsetDateTime) -> bool {
        !self.was_revoked() && now < self.expires_at
    }
}

/// The claims of a JWT access token (RFC 9068 section 2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessClaims {
    /// `iss`: this server
    pub issuer: String,
    /// `aud`: the servers that the token is for
    pub audience: Audience,
    /// `sub`
    pub subject: TokenSubject,
    /// `client_id`, as the client writes it
    pub client: String,
    /// `cnf.jkt`: the key that the token is bound to
    pub key: Option<KeyThumbprint>,
    /// `scope`: what the token allows
    pub scope: ScopeSet,
    /// `groups`: those of the user's groups that the operator releases to the client, sorted (RFC 9068 section
    /// 2.2.3.1)
    pub groups: Option<Vec<GroupName>>,
    /// `auth_time`: when the wallet signed, unless that is hidden from the client
    pub authenticated_at: Option<OffsetDateTime>,
    /// `iat`: when the token was issued
    pub issued_at: OffsetDateTime,
    /// `exp`: when the token expires
    pub expires_at: OffsetDateTime,
    /// `jti`: the id of the token
    pub id: TokenId,
}

/// The claims of one of our access tokens. They do not prove that it is ours; the hash of the whole token
/// does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessTokenRead {
    /// `jti`: the id of the token
    pub id: TokenId,
    /// `sub`: the user or the client, as the client of the token knows them
    pub subject: Uuid,
    /// `aud`: the servers that the token is for
    pub audience: Vec<String>,
    /// `client_id`, as the client writes it
    pub client: String,
    /// `cnf.jkt`: the key that the token is bound to
    pub key: Option<KeyThumbprint>,
}
