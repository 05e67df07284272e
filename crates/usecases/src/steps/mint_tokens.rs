//! Shared step: makes the ids, random values, hashes and signed tokens of one answer of the token endpoint.

use countersign_domain::admission::{MAX_GROUPS_IN_TOKEN, size_in_token};
use countersign_domain::audience::TokenAccess;
use countersign_domain::client::Client;
use countersign_domain::grant::{Grant, Holder, TokenSubject};
use countersign_domain::grant_type::GrantType;
use countersign_domain::group::GroupName;
use countersign_domain::id::{Sid, SubjectId, TokenId, UserId};
use countersign_domain::id_token::IdTokenClaims;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::token::{AccessClaims, RefreshToken, Token};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{EntropyExt, SignerError, StoreError};
use time::OffsetDateTime;

use crate::Context;
use crate::steps::admit::groups_of_admitted;
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
    /// The client's rule does not let the user in any more.
    #[error("user is no longer admitted")]
    NotAdmitted,
    /// The groups for the client do not fit into a token.
    #[error("groups of the user do not fit into a token")]
    TooManyGroups,
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

/// Makes the tokens of one answer, unless the client's rule does not let the user in any more. Nothing is stored
/// yet.
pub(crate) async fn mint_tokens(
    context: &Context,
    now: OffsetDateTime,
    mint: Mint<'_>,
) -> Result<Minted, MintError> {
    let Mint { client, grant, parent, access: TokenAccess { audience, scope }, nonce, key } = mint;
    // A row from elsewhere may say that a client registered what it cannot have.
    let scope = client.origin.admitted(&scope);
    let groups = match grant.holder.user() {
        Some(user) => told_groups(context, client, user, &scope).await?,
        None => None,
    };
    let lifetimes = client.lifetimes(&context.policy.lifetimes);
    let issuer = context.policy.public_url.as_str();
    let id = TokenId::at(now, context.entropy.bytes());
    let (subject, shown) = {
        let known_as = context.keys.pairwise.known_to(client);
        let shows_time = !known_as.hides_times() || grant.particulars.asked_auth_time;
        let shown = ShownSignIn {
            session: grant.session.map(|session| known_as.sid(session)),
            authenticated_at: shows_time.then_some(grant.authenticated_at),
        };
        (grant.subject(&known_as), shown)
    };
    let access_expires_at = lifetimes.access_ends(now);
    let claims = AccessClaims {
        issuer: issuer.to_owned(),
        audience,
        subject,
        client: client.wire_id(),
        key,
        scope: scope.clone(),
        groups,
        authenticated_at: shown.authenticated_at,
        issued_at: now,
        expires_at: access_expires_at,
        id,
    };
    let access_token = Secret::new(context.signer.sign_access_token(&claims).await?);
    let groups = claims.groups;
    let refresh_ends = lifetimes.refresh_ends(now, grant.authenticated_at);
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
    let id_token = match (&grant.holder, subject) {
        (Holder::Person { user, account }, TokenSubject::Person(subject))
            if scope.contains(Scope::OpenId) =>
        {
            let facts = Facts {
                client,
                grant,
                user: *user,
                subject,
                shown,
                account,
                scope: &scope,
                groups,
                nonce,
                expires_at: access_expires_at,
            };
            Some(id_token(context, now, facts, &access_token).await?)
        }
        (Holder::Person { .. } | Holder::Client, _) => None,
    };
    let expires_in = lifetimes.access_seconds();
    let answer = TokenAnswer { access_token, expires_in, refresh_token, scope, id_token, key };
    Ok(Minted { token, answer })
}

/// What an ID token says: its client and its subject.
struct Facts<'a> {
    client: &'a Client,
    grant: &'a Grant,
    user: UserId,
    subject: SubjectId,
    shown: ShownSignIn,
    account: &'a WalletAccount,
    scope: &'a ScopeSet,
    groups: Option<Vec<GroupName>>,
    nonce: Option<&'a str>,
    /// When it expires, as the access token does.
    expires_at: OffsetDateTime,
}

/// What a client gets to know of a sign-in.
struct ShownSignIn {
    session: Option<Sid>,
    /// When the wallet signed. All clients of a browser would get the same time, so a pairwise client must ask for it.
    authenticated_at: Option<OffsetDateTime>,
}

/// The groups that the tokens of a user tell a client, if their scopes release any.
async fn told_groups(
    context: &Context,
    client: &Client,
    user: UserId,
    scope: &ScopeSet,
) -> Result<Option<Vec<GroupName>>, MintError> {
    let are_told = scope.contains(Scope::Groups);
    let groups = groups_of_admitted(context, client, user, are_told).await?;
    let groups = groups.map_err(|_| MintError::NotAdmitted)?;
    if !are_told {
        return Ok(None);
    }
    let groups = client.access.released(&context.policy.default_access, &groups);
    let bytes = size_in_token(&groups);
    if bytes > MAX_GROUPS_IN_TOKEN {
        tracing::error!(
            user.id = %user, client.id = %client.id, groups = groups.len(), bytes, most = MAX_GROUPS_IN_TOKEN,
            "no token, because the user's groups do not fit: release fewer to the client with `countersign access \
             set CLIENT … --release a,b`"
        );
        return Err(MintError::TooManyGroups);
    }
    Ok(Some(groups))
}

/// Signs the ID token, which describes the sign-in to a client (OpenID Connect Core section 2).
async fn id_token(
    context: &Context,
    now: OffsetDateTime,
    facts: Facts<'_>,
    access_token: &Secret,
) -> Result<Secret, MintError> {
    let Facts { client, grant, user, subject, shown, account, scope, groups, nonce, expires_at } = facts;
    let algorithm = client.id_token_algorithm();
    let claims = IdTokenClaims {
        issuer: context.policy.public_url.as_str().to_owned(),
        subject,
        audience: client.wire_id(),
        issued_at: now,
        expires_at,
        authenticated_at: shown.authenticated_at,
        nonce: nonce.map(ToOwned::to_owned),
        access_token_hash: Some(algorithm.half_hash(access_token.expose())),
        session: shown.session,
        user: released_claims(context, (user, subject), account, scope, groups).await?,
        wallet_proof: grant.particulars.wallet_proof.clone().filter(|_| scope.contains(Scope::WalletProof)),
    };
    Ok(Secret::new(context.signer.sign_id_token(algorithm, &claims).await?))
}
