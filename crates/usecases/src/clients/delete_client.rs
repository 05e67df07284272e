//! A client is deleted, with everything that people granted to it: by itself (RFC 7592 section 2.3), or by the
//! operator.

use countersign_domain::event::EventKind;
use countersign_domain::id::ClientId;
use countersign_domain::secret::Secret;
use countersign_ports::{DeleteClient, StoreError};

use crate::clients::open_configuration::open_configuration;
use crate::context::cause::Cause;
use crate::{Context, Management};

/// Why the client was not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteClientError {
    /// The registration access token is not this client's.
    #[error("registration access token is not good")]
    TokenInvalid,
    /// The client could not be deleted.
    #[error("client could not be removed")]
    Store(#[from] StoreError),
}

/// Deletes a client for itself, with its codes and tokens.
pub async fn delete_client(
    context: &Context,
    cause: &Cause,
    client_id: &str,
    token: &Secret,
) -> Result<(), DeleteClientError> {
    let client =
        open_configuration(context, client_id, token).await?.ok_or(DeleteClientError::TokenInvalid)?;
    remove_client(context.management_for(cause), client.id).await?;
    tracing::info!(client.id = %client.id, "client removed");
    Ok(())
}

/// Deletes a client for the operator. The answer says whether it existed.
pub async fn remove_client(management: Management<'_>, id: ClientId) -> Result<bool, StoreError> {
    let event =
        management.event(management.clock.now(), EventKind::ClientDeleted, |event| event.client = Some(id));
    management.clients.delete(DeleteClient { id, event }).await
}
