//! Shared step: a client proves who it is.

use countersign_domain::client::Client;
use countersign_domain::client_auth::{self, ClientCredentials, ClientRejected, Judged};
use countersign_domain::id::ClientId;
use countersign_ports::StoreError;

use crate::Context;
use crate::verify_assertion::verify_assertion;

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

/// Finds the client and judges its credentials. What a client signed to prove itself is used up.
pub(crate) async fn authenticate_client(
    context: &Context,
    credentials: &ClientCredentials,
) -> Result<Client, AuthenticateClientError> {
    let client = match ClientId::named(&credentials.client_id) {
        Some(id) => context.storage.find_client(id).await?,
        None => None,
    }
    // A client with a document is called by its address alone.
    .filter(|client| client.wire_id() == credentials.client_id);
    let judged = client_auth::judge(client.as_ref(), credentials)?;
    let client = client.ok_or(ClientRejected::Unknown)?;
    match judged {
        Judged::Proven => {}
        Judged::Signed(assertion) => {
            verify_assertion(context, &client, &credentials.client_id, assertion).await?;
        }
    }
    Ok(client)
}
