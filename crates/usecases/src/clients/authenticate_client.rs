//! Shared step: a client authenticates.

mod verify_assertion;

use std::sync::Arc;

use countersign_domain::client::Client;
use countersign_domain::client_auth::{self, ClientCredentials, ClientRejected, Judged};
use countersign_ports::StoreError;

use crate::Context;
use crate::clients::client_document::find_stored;
use verify_assertion::verify_assertion;

/// Why a client could not be authenticated.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticateClientError {
    /// The credentials are not valid.
    #[error("client is refused")]
    Rejected(#[from] ClientRejected),
    /// The client could not be looked up.
    #[error("client could not be read")]
    Store(#[from] StoreError),
}

/// Finds the client and checks its credentials. A client assertion is used up.
pub(crate) async fn authenticate_client(
    context: &Context,
    credentials: &ClientCredentials,
) -> Result<Arc<Client>, AuthenticateClientError> {
    let client = find_stored(context, &credentials.client_id).await?;
    let judged = client_auth::judge(client.as_deref(), credentials)?;
    let client = client.ok_or(ClientRejected::Unknown)?;
    match judged {
        Judged::Proven => {}
        Judged::Signed(assertion) => {
            verify_assertion(context, &client, &credentials.client_id, assertion).await?;
        }
    }
    Ok(client)
}
