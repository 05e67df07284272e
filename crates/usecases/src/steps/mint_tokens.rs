//! Shared step: makes the ids, random values, hashes and signed tokens of one answer of the token endpoint.

use countersign_domain::audience::TokenAccess;
use countersign_domain::client::Client;
use countersign_domain::grant::{Grant, Holder};
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::{TokenId, UserId};
use countersign_domain::id_token::IdTokenClaims;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::token::{AccessClaims, RefreshToken, Token};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{EntropyExt, SignerError, StoreError};
use time::OffsetDateTime;

use crate::Context;
use crate::steps::released_claims::released_claims;

/// What the token endpoint answers.
#[derive(Clone, Debug)]
pub struct TokenAnswer {
    /// The access token.
    pub access_token: Secret,
    /// Its lifetime in seconds.
    pub expires_in: i64,
    /// The refresh token, for clients that registered its grant type.
    pub refresh_token: Option<Secret>,
    /// The scopes of the access token.
    pub scope: ScopeSet,
    /// The ID token, if the scopes include `openid`.
    pub id_token: Option<Secret>,
    /// The key that the access token is bound to.
    pub key: Option<KeyThumbprint>,
}

/// Why tokens could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MintError {
    /// The signer failed.
    #[error("token could not be signed")]
    Signer(#[from] SignerError),
    /// The claims of the ID token could not be read.
    #[error("claims could not be read")]
    Store(#[from] StoreError),
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
    /// Where the access token is valid, and what it allows there.
    pub(crate) access: TokenAccess,
    /// Goes into the ID token, except at a refresh (OpenID Connect Core section 12.2).
    pub(crate) nonce: Option<&'a str>,
    /// The key that the access token is bound to, and a public client's refresh token too.
    pub(crate) key: Option<KeyThumbprint>,
}

/// Makes the tokens of one answer. Nothing is stored yet.
pub(crate) async fn mint_tokens(
    context: &Context,
    now: OffsetDateTime,
    mint: Mint<'_>,
) -> Result<Minted, MintError> {
    let Mint { client, grant, parent, access: TokenAccess { audience, scope }, nonce, key } = mint;
    let lifetimes = &context.policy.lifetimes;
    let issuer = context.policy.public_url.as_str();
    let id = TokenId::at(now, context.entropy.bytes());
    let access_expires_at = now + lifetimes.access_token;
    let claims = AccessClaims {
        issuer: issuer.to_owned(),
        audience,
        subject: grant.subject(),
        client: client.wire_id(),
        key,
        scope: scope.clone(),
        authenticated_at: grant.authenticated_at,
        issued_at: now,
        expires_at: access_expires_at,
        id,
    };
    let access_token = Secret::new(context.signer.sign_access_token(&claims).await?);
    let refresh_ends = (now + lifetimes.refresh_token).min(grant.authenticated_at + Lifetimes::FAMILY);
    let is_refreshed = match grant.holder {
        Holder::Person { .. } => client.may_use(GrantType::RefreshToken),
        // A client can get the next token without a person, so it needs no refresh token.
        Holder::Client => false,
    };
    let may_refresh = is_refreshed && now < refresh_ends;
    let refresh_token = may_refresh.then(|| Secret::with_id(id.as_uuid(), context.entropy.bytes()));
    let token = Token {
        id,
        grant: grant.id,
        parent,
        scope: scope.clone(),
        issued_at: now,
        access_hash: SecretHash::of(&access_token),
        access_expires_at,
        refresh: refresh_token
            .as_ref()
            .map(|secret| RefreshToken { hash: SecretHash::of(secret), expires_at: refresh_ends }),
        key: key.filter(|_| client.is_public()),
    };
    let id_token = match &grant.holder {
        Holder::Person { user, account } if scope.contains(Scope::OpenId) => {
            let told = Told { client, grant, user: *user, account, scope: &scope, nonce };
            Some(id_token(context, now, told, &access_token).await?)
        }
        Holder::Person { .. } | Holder::Client => None,
    };
    let expires_in = lifetimes.access_token.whole_seconds();
    let answer = TokenAnswer { access_token, expires_in, refresh_token, scope, id_token, key };
    Ok(Minted { token, answer })
}

/// What an ID token says: to which client, about whom.
struct Told<'a> {
    client: &'a Client,
    grant: &'a Grant,
    user: UserId,
    account: &'a WalletAccount,
    scope: &'a ScopeSet,
    nonce: Option<&'a str>,
}

/// Signs the ID token, which tells a client about the sign-in (OpenID Connect Core section 2).
async fn id_token(
    context: &Context,
    now: OffsetDateTime,
    told: Told<'_>,
    access_token: &Secret,
) -> Result<Secret, MintError> {
    let Told { client, grant, user, account, scope, nonce } = told;
    let algorithm = client.id_token_algorithm();
    let claims = IdTokenClaims {
        issuer: context.policy.public_url.as_str().to_owned(),
        subject: user,
        audience: client.wire_id(),
        issued_at: now,
        expires_at: now + context.policy.lifetimes.access_token,
        authenticated_at: grant.authenticated_at,
        nonce: nonce.map(ToOwned::to_owned),
        access_token_hash: Some(algorithm.half_hash(access_token.expose())),
        session: grant.session,
        user: released_claims(context, user, account, scope).await?,
        wallet_proof: grant.particulars.wallet_proof.clone().filter(|_| scope.contains(Scope::WalletProof)),
    };
    Ok(Secret::new(context.signer.sign_id_token(algorithm, &claims).await?))
}
