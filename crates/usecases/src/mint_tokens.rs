//! Shared step: ids, random values, hashes and the signed access token of one answer of the token endpoint.

use countersign_domain::client::Client;
use countersign_domain::grant::Grant;
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::TokenId;
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::token::{AccessClaims, RefreshToken, Token};
use countersign_ports::{EntropyExt, SignerError};
use time::OffsetDateTime;

use crate::Context;

/// What the token endpoint answers.
#[derive(Clone, Debug)]
pub struct TokenAnswer {
    /// The access token.
    pub access_token: Secret,
    /// Its lifetime in seconds.
    pub expires_in: i64,
    /// The refresh token, for clients that registered its grant type.
    pub refresh_token: Option<Secret>,
    /// What the access token reaches.
    pub scope: ScopeSet,
}

/// Tokens could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MintError {
    /// The signer failed.
    #[error("access token could not be signed")]
    Signer(#[from] SignerError),
}

/// The values of one answer: what is stored and what is sent.
pub(crate) struct Minted {
    pub(crate) token: Token,
    pub(crate) answer: TokenAnswer,
}

/// What an answer is made of.
pub(crate) struct Mint<'a> {
    pub(crate) client: &'a Client,
    pub(crate) grant: &'a Grant,
    pub(crate) parent: Option<TokenId>,
    pub(crate) scope: ScopeSet,
}

/// Makes the tokens of one answer. Nothing is stored yet.
pub(crate) async fn mint_tokens(
    context: &Context,
    now: OffsetDateTime,
    mint: Mint<'_>,
) -> Result<Minted, MintError> {
    let Mint { client, grant, parent, scope } = mint;
    let lifetimes = &context.policy.lifetimes;
    let id = TokenId::at(now, context.entropy.bytes());
    let access_expires_at = now + lifetimes.access_token;
    let claims = AccessClaims {
        issuer: context.policy.public_url.as_str().to_owned(),
        audience: context.policy.public_url.as_str().to_owned(),
        subject: grant.user,
        client: client.id,
        scope,
        authenticated_at: grant.authenticated_at,
        issued_at: now,
        expires_at: access_expires_at,
        id,
    };
    let access_token = Secret::new(context.signer.sign_access_token(&claims).await?);
    let refresh_ends = (now + lifetimes.refresh_token).min(grant.authenticated_at + Lifetimes::FAMILY);
    let may_refresh = client.may_use(GrantType::RefreshToken) && now < refresh_ends;
    let refresh_token = may_refresh.then(|| Secret::with_id(id.as_uuid(), context.entropy.bytes()));
    let token = Token {
        id,
        grant: grant.id,
        parent,
        scope,
        issued_at: now,
        access_hash: SecretHash::of(&access_token),
        access_expires_at,
        refresh: refresh_token
            .as_ref()
            .map(|secret| RefreshToken { hash: SecretHash::of(secret), expires_at: refresh_ends }),
    };
    let expires_in = lifetimes.access_token.whole_seconds();
    Ok(Minted { token, answer: TokenAnswer { access_token, expires_in, refresh_token, scope } })
}
