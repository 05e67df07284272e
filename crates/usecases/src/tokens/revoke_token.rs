//! A client revokes a token (RFC 7009): one idempotent write.

use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::event::{Details, EventKind};
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::{ClientId, TokenId};
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{self as ports, StoreError};
use time::OffsetDateTime;

use crate::clients::authenticate_client::authenticate_client;
use crate::context::cause::Cause;
use crate::steps::end_grant::end_grant;
use crate::{AuthenticateClientError, Context};

/// What the client sends.
#[derive(Clone, Debug)]
pub struct RevokeToken {
    /// The credentials of the client.
    pub credentials: ClientCredentials,
    /// An access token or a refresh token. Their forms differ, so no hint is needed.
    pub token: Secret,
}

/// Why a revocation is refused. An unknown or expired token is not an error.
#[derive(Debug, thiserror::Error)]
pub enum RevokeTokenError {
    /// The client could not be authenticated.
    #[error(transparent)]
    Client(#[from] AuthenticateClientError),
    /// Another client's token; nothing was revoked.
    #[error("token belongs to another client")]
    OtherClient,
    /// Storage failed.
    #[error("token could not be revoked")]
    Store(#[from] StoreError),
}

/// Revokes a token. A refresh token ends its whole grant, an access token only itself.
pub async fn revoke_token(
    context: &Context,
    cause: &Cause,
    revoke: RevokeToken,
) -> Result<(), RevokeTokenError> {
    let now = context.clock.now();
    let client = authenticate_client(context, &revoke.credentials).await?;
    if let Some(id) = revoke.token.id().map(TokenId::from_uuid) {
        return revoke_refresh(context, cause, (now, client.id), id, &revoke.token).await;
    }
    let Some(read) = context.signer.read_access_token(revoke.token.expose()) else { return Ok(()) };
    let (id, access_hash) = (read.id, SecretHash::of(&revoke.token));
    // What a token says about itself is true if storage has its hash. Otherwise nothing is revoked.
    if read.client == client.wire_id() {
        // Its user is left out: if their account is deleted at the same moment, the event must not name it.
        let event = context.event(now, cause, EventKind::GrantRevoked, |event| {
            event.client = Some(client.id);
            let details = Details::default().text("reason", RevocationReason::ClientRequest.name());
            event.details = details.text("access_token", id);
        });
        context.storage.revoke_token(ports::RevokeToken { id, access_hash, now, event }).await?;
        return Ok(());
    }
    let found = context.storage.find_access(id).await?;
    let is_anothers = found.is_some_and(|found| found.access_hash.admits(&revoke.token));
    if is_anothers { Err(RevokeTokenError::OtherClient) } else { Ok(()) }
}

async fn revoke_refresh(
    context: &Context,
    cause: &Cause,
    (now, client): (OffsetDateTime, ClientId),
    id: TokenId,
    presented: &Secret,
) -> Result<(), RevokeTokenError> {
    let Some(found) = context.storage.find_refresh(id).await? else { return Ok(()) };
    if !found.token.refresh.is_some_and(|refresh| refresh.hash.admits(presented)) {
        return Ok(());
    }
    if found.grant.client != client {
        return Err(RevokeTokenError::OtherClient);
    }
    Ok(end_grant(context, cause, now, (&found.grant).into(), RevocationReason::ClientRequest).await?)
}
