//! A client reads its configuration (RFC 7592 section 2.1).

use countersign_domain::client::Client;
use countersign_domain::secret::Secret;
use countersign_ports::StoreError;

use crate::Context;
use crate::clients::open_configuration::open_configuration;

/// Why the configuration was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadClientError {
    /// The registration access token is not this client's.
    #[error("registration access token is not good")]
    TokenInvalid,
    /// The client could not be read.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// Reads a client's configuration.
pub async fn read_client(
    context: &Context,
    client_id: &str,
    token: &Secret,
) -> Result<Client, ReadClientError> {
    open_configuration(context, client_id, token).await?.ok_or(ReadClientError::TokenInvalid)
}
