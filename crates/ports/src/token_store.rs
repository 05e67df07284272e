//! Codes, tokens and token families.
//!
//! A grant knows the newest token of its family. That one field guards redemption and rotation, so a family
//! can never have two live branches.

use async_trait::async_trait;
use countersign_domain::event::Event;
use countersign_domain::grant::{Grant, RevocationReason};
use countersign_domain::id::{ClientId, GrantId, TokenId};
use countersign_domain::refresh::RefreshSnapshot;
use countersign_domain::secret::SecretHash;
use countersign_domain::token::{AccessSnapshot, Token};
use time::OffsetDateTime;

use crate::StoreError;

/// Marks a grant's code as redeemed and stores the first token.
#[derive(Clone, Debug)]
pub struct RedeemCode {
    /// The first token of the family. Its `grant` is the grant to redeem, and it has no `parent`.
    pub token: Token,
    /// The time of the redemption.
    pub now: OffsetDateTime,
    /// When the family can be forgotten if nothing is refreshed.
    pub forget_after: OffsetDateTime,
}

/// The outcome of [`RedeemCode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redeemed {
    /// The token is stored and is the family's newest. A repeat of the same command gives this too.
    Stored,
    /// The code was already redeemed for another token. Nothing changed.
    Replayed,
    /// The grant was revoked. Nothing changed.
    Revoked,
    /// There is no such grant.
    Unknown,
}

/// Stores a grant that no code leads to, together with its first token.
#[derive(Clone, Debug)]
pub struct IssueTokens {
    /// The grant, already redeemed; its client holds it.
    pub grant: Grant,
    /// The first token. Its `grant` is this grant, and it has no `parent`.
    pub token: Token,
    /// The time of issue.
    pub now: OffsetDateTime,
    /// When the family can be forgotten.
    pub forget_after: OffsetDateTime,
}

/// The outcome of [`IssueTokens`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokensIssued {
    /// The grant and the token are stored. A repeat of the same command gives this too.
    Stored,
    /// Another grant has this id. Nothing changed.
    IdTaken,
    /// The client is no longer registered. Nothing changed.
    ClientUnknown,
}

/// Replaces the newest token of a family.
#[derive(Clone, Debug)]
pub struct RotateRefresh {
    /// The new token; its `parent` is the token that was presented.
    pub token: Token,
    /// The token that must be the family's newest: the presented token or, within the grace period, its
    /// unused successor. If it is the successor (it differs from `token.parent`), its access token is revoked
    /// with the rotation.
    pub expected_newest: TokenId,
    /// The time of the rotation.
    pub now: OffsetDateTime,
    /// When the family can be forgotten if nothing is refreshed again. Never earlier than a time stored
    /// before.
    pub forget_after: OffsetDateTime,
}

/// The outcome of [`RotateRefresh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotated {
    /// The token is stored and is the family's newest. A repeat of the same command gives this too.
    Stored,
    /// The family has another newest token by now. Nothing changed.
    Reused,
    /// The grant was revoked. Nothing changed.
    Revoked,
    /// There is no such grant.
    Unknown,
}

/// Revokes one access token.
#[derive(Clone, Debug)]
pub struct RevokeToken {
    /// The token's id.
    pub id: TokenId,
    /// The stored hash of the token that was presented.
    pub access_hash: SecretHash,
    /// The time of the revocation.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Revokes a grant and all its tokens.
#[derive(Clone, Debug)]
pub struct RevokeGrant {
    /// The grant's id.
    pub id: GrantId,
    /// Why it is revoked; stored with the grant.
    pub reason: RevocationReason,
    /// The time of the revocation.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`RevokeToken`] or [`RevokeGrant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// It was live and is now revoked.
    Revoked,
    /// It was revoked before. The stored time and reason stay as they were.
    AlreadyRevoked,
    /// There is no such token or grant.
    Unknown,
}

/// An access token that was found before: the ids of everything that can end it before it expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownAccess {
    /// Its `jti`.
    pub id: TokenId,
    /// The grant whose family it belongs to.
    pub grant: GrantId,
    /// The client that it was issued to.
    pub client: ClientId,
}

impl From<&AccessSnapshot> for KnownAccess {
    fn from(found: &AccessSnapshot) -> Self {
        Self { id: found.id, grant: found.grant, client: found.client }
    }
}

/// Codes, tokens and token families. Every write is durable before the answer.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Reads a grant, to check its code.
    async fn find_grant(&self, id: GrantId) -> Result<Option<Grant>, StoreError>;

    /// Redeems a code atomically. Guard: the grant is neither redeemed nor revoked.
    async fn redeem_code(&self, command: RedeemCode) -> Result<Redeemed, StoreError>;

    /// Stores a grant with its first token, atomically. Guards: the client is registered, and no grant has
    /// this id. If the client is deleted at the same time, the grant is deleted too, or is never stored.
    async fn issue_tokens(&self, command: IssueTokens) -> Result<TokensIssued, StoreError>;

    /// Reads a token with its grant and the family's newest token, to check a refresh token.
    async fn find_refresh(&self, id: TokenId) -> Result<Option<RefreshSnapshot>, StoreError>;

    /// Rotates a refresh token atomically. Guard: the family's newest token is the expected one, and the
    /// grant is not revoked.
    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotated, StoreError>;

    /// Reads what an access token stands for. Once a revocation has been answered, every later read sees it,
    /// on every replica.
    async fn find_access(&self, id: TokenId) -> Result<Option<AccessSnapshot>, StoreError>;

    /// Is an access token that was found before still good: its client is registered, and neither the token
    /// nor its grant is revoked? Once a revocation has been answered, this sees it, as
    /// [`find_access`](Self::find_access) does. The rest of the token does not change, so a store that can
    /// answer without reading it again should do so.
    async fn lives_on(&self, access: KnownAccess) -> Result<bool, StoreError> {
        let found = self.find_access(access.id).await?;
        Ok(found.is_some_and(|found| !found.was_revoked()))
    }

    /// Revokes one access token. Idempotent. The rest of the family is unaffected.
    async fn revoke_token(&self, command: RevokeToken) -> Result<Revoked, StoreError>;

    /// Revokes a grant: its code, its refresh tokens and its access tokens. Idempotent.
    async fn revoke_grant(&self, command: RevokeGrant) -> Result<Revoked, StoreError>;
}
