//! A client asks whether a token is valid and what it means (RFC 7662): one read,
//! and one more if the token releases the user's groups.

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::grant::{Holder, TokenSubject};
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, SubjectId, TokenId};
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::Secret;
use countersign_ports::StoreError;
use time::OffsetDateTime;

use crate::clients::authenticate_client::authenticate_client;
use crate::steps::access_ends::access_ends;
use crate::steps::released_claims::released_groups;
use crate::{AuthenticateClientError, Context};

/// What a client learns about a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFacts {
    /// The scopes of the token.
    pub scope: ScopeSet,
    /// Those of the user's groups that the operator releases to the client of the token now; `None` if the scopes
    /// do not release any.
    pub groups: Option<Vec<GroupName>>,
    /// The client that the token was issued to, by the id that it uses itself.
    pub client: String,
    /// The user or the client that it is about, as the client of the token knows them.
    pub subject: TokenSubject,
    /// When it was issued.
    pub issued_at: OffsetDateTime,
    /// When it expires.
    pub expires_at: OffsetDateTime,
    /// Where an access token is valid; `None` for a refresh token, which only we accept.
    pub audience: Option<Vec<String>>,
    /// Its id.
    pub id: TokenId,
    /// The key that it is bound to.
    pub key: Option<KeyThumbprint>,
}

/// Why a client learns nothing at all.
#[derive(Debug, thiserror::Error)]
pub enum IntrospectTokenError {
    /// The client could not be authenticated.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// The id of a public client is no secret.
    #[error("public clients may not introspect")]
    PublicClient,
    /// The token could not be looked up.
    #[error("token could not be read")]
    Store(#[from] StoreError),
}

/// Describes a token, if it is valid and the caller may know about it. The caller may know about its own
/// tokens, and about an access token for a resource if the operator says that the caller is that resource.
/// For all other tokens the answer is the same: nothing.
pub async fn introspect_token(
    context: &Context,
    credentials: &ClientCredentials,
    token: &Secret,
) -> Result<Option<TokenFacts>, IntrospectTokenError> {
    let now = context.clock.now();
    let client = authenticate_client(context, credentials).await?;
    if client.is_public() {
        return Err(IntrospectTokenError::PublicClient);
    }
    if let Some(id) = token.id().map(TokenId::from_uuid) {
        return Ok(refresh_facts(context, now, &client, id, token).await?);
    }
    let Some(read) = context.signer.read_access_token(token.expose()) else { return Ok(None) };
    let Some(found) = context.find_access(read.id).await? else { return Ok(None) };
    let is_theirs = found.client == client.id || is_for(&read.audience, &client);
    if !found.access_hash.admits(token) || !found.is_live(now) || !is_theirs {
        return Ok(None);
    }
    let expires_at = access_ends(context, &found, Some(&client)).await?;
    if now >= expires_at {
        return Ok(None);
    }
    let groups = groups_of(context, found.client, &found.holder, &found.scope).await?;
    Ok(Some(TokenFacts {
        scope: found.scope.clone(),
        groups,
        client: read.client,
        // As the client of the token knows them, also if an API asks.
        subject: match found.holder {
            Holder::Person { .. } => TokenSubject::Person(SubjectId::from_uuid(read.subject)),
            Holder::Client => TokenSubject::Client(found.client),
        },
        issued_at: found.issued_at,
        expires_at,
        audience: Some(read.audience),
        id: found.id,
        key: read.key,
    }))
}

/// Is the caller one of these resources? Only the operator can say so, by the `client_uri` that the client
/// was registered with. If clients could say so themselves, anyone could read the tokens of others (F-08).
fn is_for(audience: &[String], client: &Client) -> bool {
    match (client.origin, &client.metadata.display.client_uri) {
        (ClientOrigin::Operator, Some(address)) => audience.contains(address),
        (ClientOrigin::Operator, None) | (ClientOrigin::SelfRegistered | ClientOrigin::Document, _) => false,
    }
}

/// A refresh token that was rotated is no longer valid, even within the client's grace period.
async fn refresh_facts(
    context: &Context,
    now: OffsetDateTime,
    client: &Client,
    id: TokenId,
    presented: &Secret,
) -> Result<Option<TokenFacts>, StoreError> {
    let Some(found) = context.storage.find_refresh(id).await? else { return Ok(None) };
    let found = found.under(client.lifetimes(&context.policy.lifetimes));
    let Some(refresh) = found.token.refresh.as_ref() else { return Ok(None) };
    let is_good = refresh.hash.admits(presented)
        && found.grant.client == client.id
        && !found.grant.revoked
        && found.newest.id == id
        && now < refresh.expires_at;
    if !is_good {
        return Ok(None);
    }
    let groups = groups_of(context, client.id, &found.grant.holder, &found.grant.scope).await?;
    Ok(Some(TokenFacts {
        scope: found.grant.scope.clone(),
        groups,
        client: client.wire_id(),
        subject: found.grant.subject(&context.keys.pairwise.known_to(client)),
        issued_at: found.token.issued_at,
        expires_at: refresh.expires_at,
        audience: None,
        id,
        key: found.token.key,
    }))
}

/// The groups that the client of a token gets now. A client's own token has none.
async fn groups_of(
    context: &Context,
    client: ClientId,
    holder: &Holder,
    scope: &ScopeSet,
) -> Result<Option<Vec<GroupName>>, StoreError> {
    match holder {
        Holder::Person { user, .. } => released_groups(context, client, *user, scope).await,
        Holder::Client => Ok(None),
    }
}
