//! Codes, tokens and their families.
//!
//! A grant knows the newest token of its family. That one field is the guard of redeeming and of rotating, and it is
//! why a family can never have two live branches.

use async_trait::async_trait;
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
    /// The first token of the family; its `grant` is the grant to redeem, its `parent` is none.
    pub token: Token,
    /// Now.
    pub now: OffsetDateTime,
    /// When the family may be forgotten, if nothing is refreshed.
    pub forget_after: OffsetDateTime,
}

/// What became of [`RedeemCode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redeemed {
    /// The token is stored and is the family's newest; also when this very command was carried out before.
    Stored,
    /// The code was redeemed before, with another token. Nothing changed.
    Replayed,
    /// The grant was revoked. Nothing changed.
    Revoked,
    /// There is no such grant.
    Unknown,
}

/// Stores a grant that no code leads to, with its first token.
#[derive(Clone, Debug)]
pub struct IssueTokens {
    /// The grant, redeemed already; its client holds it.
    pub grant: Grant,
    /// Its first token; its `grant` is this grant, its `parent` is none.
    pub token: Token,
    /// Now.
    pub now: OffsetDateTime,
    /// When the family may be forgotten.
    pub forget_after: OffsetDateTime,
}

/// What became of [`IssueTokens`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokensIssued {
    /// Grant and token are stored; also when this very command was carried out before.
    Stored,
    /// Another grant has this id. Nothing changed.
    IdTaken,
    /// The client is not registered any more. Nothing changed.
    ClientUnknown,
}

/// Replaces the newest token of a family.
#[derive(Clone, Debug)]
pub struct RotateRefresh {
    /// The new token; its `parent` is the token that was presented.
    pub token: Token,
    /// The token that must be the family's newest: the presented one, or within the grace its unused successor. In
    /// that second case (it differs from `token.parent`) its access token is revoked with the rotation.
    pub expected_newest: TokenId,
    /// Now.
    pub now: OffsetDateTime,
    /// When the family may be forgotten, if nothing is refreshed again; not before what was said of it earlier.
    pub forget_after: OffsetDateTime,
}

/// What became of [`RotateRefresh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotated {
    /// The token is stored and is the family's newest; also when this very command was carried out before.
    Stored,
    /// The family has another newest token by now. Nothing changed.
    Reused,
    /// The grant was revoked. Nothing changed.
    Revoked,
    /// There is no such grant.
    Unknown,
}

/// Revokes one access token.
#[derive(Clone, Copy, Debug)]
pub struct RevokeToken {
    /// Which.
    pub id: TokenId,
    /// What we keep of the one that was presented.
    pub access_hash: SecretHash,
    /// Now.
    pub now: OffsetDateTime,
}

/// Revokes a grant with all its tokens.
#[derive(Clone, Copy, Debug)]
pub struct RevokeGrant {
    /// Which.
    pub id: GrantId,
    /// Why.
    pub reason: RevocationReason,
    /// Now.
    pub now: OffsetDateTime,
}

/// What became of [`RevokeToken`] or [`RevokeGrant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// It was alive; it is dead now.
    Revoked,
    /// It was revoked before; when and why stay as they were.
    AlreadyRevoked,
    /// There is no such thing.
    Unknown,
}

/// An access token that was found before, by all that can end it before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownAccess {
    /// Its `jti`.
    pub id: TokenId,
    /// Its family.
    pub grant: GrantId,
    /// Whose token it is.
    pub client: ClientId,
}

impl From<&AccessSnapshot> for KnownAccess {
    fn from(found: &AccessSnapshot) -> Self {
        Self { id: found.id, grant: found.grant, client: found.client }
    }
}

/// Codes, tokens and their families. Every write is durable before the answer.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Reads a grant, for judging its code.
    async fn find_grant(&self, id: GrantId) -> Result<Option<Grant>, StoreError>;

    /// Redeems a code, all or nothing. Guard: the grant is neither redeemed nor revoked.
    async fn redeem_code(&self, command: RedeemCode) -> Result<Redeemed, StoreError>;

    /// Stores a grant with its first token, all or nothing. Guards: the client is registered, and no grant has this id. A client
    /// that is removed takes the grant along, however close the two come to each other.
    async fn issue_tokens(&self, command: IssueTokens) -> Result<TokensIssued, StoreError>;

    /// Reads a token with its grant and the family's newest token, for judging a refresh token.
    async fn find_refresh(&self, id: TokenId) -> Result<Option<RefreshSnapshot>, StoreError>;

    /// Rotates a refresh token, all or nothing. Guard: the family's newest token is the expected one, and the grant is not
    /// revoked.
    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotated, StoreError>;

    /// Reads what an access token means. A revocation that was answered is seen by every later read, on every replica.
    async fn find_access(&self, id: TokenId) -> Result<Option<AccessSnapshot>, StoreError>;

    /// Does an access token that was found before live on: is its client registered, and neither the token nor its grant revoked?
    /// A revocation that was answered is seen, as by [`find_access`](Self::find_access). What was found of the token does not
    /// change, so a store that can tell this without reading it again should.
    async fn lives_on(&self, access: KnownAccess) -> Result<bool, StoreError> {
        let found = self.find_access(access.id).await?;
        Ok(found.is_some_and(|found| !found.was_revoked()))
    }

    /// Revokes one access token. Idempotent. The family goes on.
    async fn revoke_token(&self, command: RevokeToken) -> Result<Revoked, StoreError>;

    /// Revokes a grant: its code, its refresh tokens and its access tokens. Idempotent.
    async fn revoke_grant(&self, command: RevokeGrant) -> Result<Revoked, StoreError>;
}
