//! Codes, tokens and token families.
//!
//! A grant knows the newest token of its family. That one field guards redemption and rotation, so a family
//! can never have two live branches.

use countersign_domain::event::Event;
use countersign_domain::grant::{Grant, RevocationReason};
use countersign_domain::id::{ClientId, GrantId, TokenId};
use countersign_domain::secret::SecretHash;
use countersign_domain::token::{AccessSnapshot, Token};
use time::OffsetDateTime;

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
