//! Shared step: a client proves who it is.

use countersign_domain::client::Client;
use countersign_domain::client_auth::{self, ClientCredentials, ClientRejected};
use countersign_domain::id::ClientId;
use countersign_ports::StoreError;

use crate::Context;

/// Why a client is not believed.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticateClientError {
    /// The credentials are not good.
    #[error("client is refused")]
    Rejected(#[from] ClientRejected),
    /// The client could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// Finds the client and judges its credentials.
pub(crate) async fn authenticate_client(
    context: &Context,
    credentials: &ClientCredentials,
) -> Result<Client, AuthenticateClientError> {
    let client = match ClientId::parse(&credentials.client_id) {
        Some(id) => context.storage.find_client(id).await?,
        None => None,
    };
    client_auth::judge(client.as_ref(), credentials)?;
    client.ok_or(AuthenticateClientError::Rejected(ClientRejected::Unknown))
}
