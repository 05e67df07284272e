//! A client deletes itself (RFC 7592 section 2.3), and everything that people granted to it.

use countersign_domain::secret::Secret;
use countersign_ports::StoreError;

use crate::Context;
use crate::clients::open_configuration::open_configuration;

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

/// Deletes a client with its codes and tokens.
pub async fn delete_client(
    context: &Context,
    client_id: &str,
    token: &Secret,
) -> Result<(), DeleteClientError> {
    let client =
        open_configuration(context, client_id, token).await?.ok_or(DeleteClientError::TokenInvalid)?;
    context.clients.delete(client.id).await?;
    tracing::info!(client.id = %client.id, "client removed");
    Ok(())
}
