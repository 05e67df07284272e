//! A client refreshes: one guarded write replaces the newest token of the family.

use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::error::OAuthError;
use countersign_domain::grant::RevocationReason;
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::TokenId;
use countersign_domain::refresh::RefreshRejected;
use countersign_domain::scope::{self, ScopeRejected, ScopeSet};
use countersign_domain::secret::Secret;
use countersign_ports::{RotateRefresh, Rotated, StoreError};
use time::OffsetDateTime;

use crate::clients::authenticate_client::authenticate_client;
use crate::context::cause::Cause;
use crate::steps::end_grant::{EndingGrant, end_grant};
use crate::steps::mint_tokens::{Mint, mint_tokens};
use crate::steps::prove_key::prove_key_of_tokens;
use crate::steps::token_access::{AccessRejected, access_of_grant};
use crate::{AuthenticateClientError, Context, MintError, ProveKeyError, TokenAnswer};

/// How often a request within the grace period is judged again after a faster one with the same token.
const ATTEMPTS: usize = 16;

/// What the client sends.
#[derive(Clone, Debug)]
pub struct RefreshTokens {
    /// The credentials of the client.
    pub credentials: ClientCredentials,
    /// The refresh token.
    pub refresh_token: Secret,
    /// The scopes, if the client wants fewer.
    pub scope: Option<String>,
    /// The resources that the access token is for, if fewer than were granted.
    pub resources: Vec<String>,
    /// A DPoP proof of the key that the tokens are bound to.
    pub proof: Option<String>,
}

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
pub enum RefreshTokensError {
    /// The client could not be authenticated.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// The client did not register this grant type.
    #[error("client may not refresh")]
    GrantTypeNotAllowed,
    /// The scope is not valid.
    #[error("scope is refused")]
    Scope(#[from] ScopeRejected),
    /// A resource is not valid, or was not granted.
    #[error("resource is refused")]
    Resource(#[source] OAuthError),
    /// The refresh token is not valid.
    #[error("refresh token is refused")]
    Rejected {
        /// Why.
        #[source]
        why: RefreshRejected,
        /// What the client learns, if it learns more than that the token is not valid.
        shown: Option<RefreshRejected>,
    },
    /// Within the grace period, other requests with the same token were faster again and again. Nothing was
    /// used up.
    #[error("refresh token is being rotated by others")]
    Contended,
    /// The DPoP proof is missing or not valid.
    #[error(transparent)]
    Key(#[from] ProveKeyError),
    /// Tokens could not be made.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// Storage failed. The refresh token is still valid unless its successor was stored.
    #[error("refresh token could not be rotated")]
    Store(#[from] StoreError),
}

impl From<AccessRejected> for RefreshTokensError {
    fn from(rejected: AccessRejected) -> Self {
        match rejected {
            AccessRejected::Refused(error) => Self::Resource(error),
            AccessRejected::Store(error) => Self::Store(error),
        }
    }
}

/// Rotates a refresh token. A refusal uses nothing up, with one exception: a rotated token that is presented
/// again ends the family. Only then is the cause asked for.
pub async fn refresh_tokens(
    context: &Context,
    cause: impl Fn() -> Cause,
    refresh: RefreshTokens,
) -> Result<TokenAnswer, RefreshTokensError> {
    let now = context.clock.now();
    let client = authenticate_client(context, &refresh.credentials).await?;
    if !client.may_use(GrantType::RefreshToken) {
        return Err(RefreshTokensError::GrantTypeNotAllowed);
    }
    let listener = context.policy.listener(&client);
    let rejected = |why: RefreshRejected| RefreshTokensError::Rejected { why, shown: why.told_to(listener) };
    let id = refresh.refresh_token.id().map(TokenId::from_uuid);
    let id = id.ok_or_else(|| rejected(RefreshRejected::of_form(&refresh.refresh_token)))?;
    let lifetimes = &context.policy.lifetimes;
    let grace = if client.is_public() { lifetimes.public_grace } else { lifetimes.confidential_grace };
    let mut proven = None;
    for _ in 0..ATTEMPTS {
        let snapshot = context.storage.find_refresh(id).await?;
        let snapshot =
            snapshot.ok_or_else(|| rejected(RefreshRejected::Unknown))?.under(client.lifetimes(lifetimes));
        let asked = scope::named(refresh.scope.as_deref());
        let scope = asked.map(|text| ScopeSet::parse_within(text, &snapshot.grant.scope)).transpose();
        // A scope that cannot be parsed is refused only after the token was judged, so that reuse is noticed
        // whatever else is wrong.
        let requested_scope = scope.as_ref().ok().and_then(Option::as_ref);
        let rotation = match snapshot.admit(now, &refresh.refresh_token, client.id, requested_scope, grace) {
            Ok(rotation) => rotation,
            Err(why) => {
                let grant = (&snapshot.grant).into();
                return Err(rejected(refuse(context, &cause, now, grant, why).await?));
            }
        };
        scope?;
        let (grant, resources) = (&snapshot.grant, &refresh.resources);
        let access = access_of_grant(context, &client, grant, &rotation.scope, resources).await?;
        // The proof is valid only once, but the token may be judged several times.
        let key = match proven {
            Some(key) => key,
            None => {
                let (proof, bound) = (refresh.proof.as_deref(), snapshot.token.key);
                *proven.insert(prove_key_of_tokens(context, now, &client, proof, bound).await?)
            }
        };
        let mint = Mint {
            client: &client,
            grant: &snapshot.grant,
            parent: Some(snapshot.token.id),
            access,
            nonce: None,
            key,
        };
        let minted = match mint_tokens(context, now, mint).await {
            Ok(minted) => minted,
            Err(MintError::NotAdmitted) => return Err(rejected(RefreshRejected::NotAdmitted)),
            Err(error) => return Err(error.into()),
        };
        let forget_after = minted.token.forget_after();
        let expected_newest = rotation.expected_newest;
        let rotate = RotateRefresh { token: minted.token, expected_newest, now, forget_after };
        let why = match context.storage.rotate_refresh(rotate).await? {
            Rotated::Stored => {
                context.uses.note_client(client.id, now);
                return Ok(minted.answer);
            }
            // Within the grace period a faster request with the same token is not theft: judge the token
            // again.
            Rotated::Reused if grace.is_positive() => continue,
            Rotated::Reused => RefreshRejected::Reused,
            Rotated::Revoked => RefreshRejected::Revoked,
            Rotated::Unknown => RefreshRejected::Unknown,
        };
        let grant = (&snapshot.grant).into();
        return Err(rejected(refuse(context, &cause, now, grant, why).await?));
    }
    Err(RefreshTokensError::Contended)
}

/// Revokes the grant if the refusal means that another party has a copy of the token.
async fn refuse(
    context: &Context,
    cause: &impl Fn() -> Cause,
    now: OffsetDateTime,
    grant: EndingGrant,
    rejected: RefreshRejected,
) -> Result<RefreshRejected, StoreError> {
    match rejected {
        RefreshRejected::Reused => {
            let reason = RevocationReason::RefreshReused;
            end_grant(context, &cause(), now, grant, reason).await?;
            tracing::warn!(grant.id = %grant.id, reason = reason.name(), "grant revoked");
        }
        RefreshRejected::OtherToken
        | RefreshRejected::Unknown
        | RefreshRejected::OtherClient
        | RefreshRejected::Revoked
        | RefreshRejected::NotAdmitted
        | RefreshRejected::Expired
        | RefreshRejected::ScopeWidened => {}
    }
    Ok(rejected)
}
