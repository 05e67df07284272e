//! A client asks what a token is worth (RFC 7662): one read.

use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::grant::Subject;
use countersign_domain::id::TokenId;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::Secret;
use countersign_ports::StoreError;
use time::OffsetDateTime;

use crate::clients::authenticate_client::authenticate_client;
use crate::{AuthenticateClientError, Context};

/// What is told about a token that is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFacts {
    /// What the token reaches.
    pub scope: ScopeSet,
    /// Whose token it is, as that client writes its id.
    pub client: String,
    /// Whom it is about.
    pub subject: Subject,
    /// When it was issued.
    pub issued_at: OffsetDateTime,
    /// When it stops being good.
    pub expires_at: OffsetDateTime,
    /// What an access token is for; `None` for a refresh token, which nobody but us takes.
    pub audience: Option<Vec<String>>,
    /// Its id.
    pub id: TokenId,
    /// The key that it is bound to.
    pub key: Option<KeyThumbprint>,
}

/// Why a client is told nothing at all.
#[derive(Debug, thiserror::Error)]
pub enum IntrospectTokenError {
    /// The client is not believed.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// Everybody knows the id of a public client.
    #[error("public clients may not introspect")]
    PublicClient,
    /// The token could not be looked up.
    #[error("token could not be read")]
    Store(#[from] StoreError),
}

/// Tells about a token that is good and the caller's business: its own, or an access token that is for a resource which the
/// operator says it is. Of every other one
/// it learns the same nothing.
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
    Ok(Some(TokenFacts {
        scope: found.scope,
        client: read.client,
        subject: found.holder.subject(found.client),
        issued_at: found.issued_at,
        expires_at: found.expires_at,
        audience: Some(read.audience),
        id: found.id,
        key: read.key,
    }))
}

/// Is one of the resources the caller itself? Only the operator says so, by the address that it registered a client with: what
/// clients say of themselves, anybody could say to read the tokens of others (F-08).
fn is_for(audience: &[String], client: &Client) -> bool {
    match (client.origin, &client.metadata.display.client_uri) {
        (ClientOrigin::Operator, Some(address)) => audience.contains(address),
        (ClientOrigin::Operator, None) | (ClientOrigin::SelfRegistered | ClientOrigin::Document, _) => false,
    }
}

/// A refresh token that was rotated is good no more, whatever grace its client has.
async fn refresh_facts(
    context: &Context,
    now: OffsetDateTime,
    client: &Client,
    id: TokenId,
    presented: &Secret,
) -> Result<Option<TokenFacts>, StoreError> {
    let Some(found) = context.storage.find_refresh(id).await? else { return Ok(None) };
    let Some(refresh) = found.token.refresh.as_ref() else { return Ok(None) };
    let is_good = refresh.hash.admits(presented)
        && found.grant.client == client.id
        && !found.grant.revoked
        && found.newest.id == id
        && now < refresh.expires_at;
    Ok(is_good.then(|| TokenFacts {
        scope: found.grant.scope,
        client: client.wire_id(),
        subject: found.grant.subject(),
        issued_at: found.token.issued_at,
        expires_at: refresh.expires_at,
        audience: None,
        id,
        key: found.token.key,
    }))
}
