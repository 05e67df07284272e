//! An operator names a client: by its id, by the address of its document, or by its name if no other client
//! has it.

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_ports::StoreError;
use countersign_usecases::Management;

use super::all_clients;

/// Why it is not clear which client is meant.
#[derive(Debug, thiserror::Error)]
pub enum LookUpClientError {
    /// No client has this id or this name.
    #[error("no client has this id or this name")]
    Unknown,
    /// Several clients have this name. Anyone can register a client with the name of another.
    #[error("several clients have this name")]
    Several(Vec<Client>),
    /// The clients could not be read.
    #[error("clients could not be read")]
    Store(#[from] StoreError),
}

/// Finds the one client that is meant by a text.
pub async fn look_up_client(management: Management<'_>, text: &str) -> Result<Client, LookUpClientError> {
    if let Some(id) = ClientId::named(text) {
        return management.clients.find_fresh(id).await?.ok_or(LookUpClientError::Unknown);
    }
    let mut clients = all_clients(management).await?;
    clients.retain(|client| client.metadata.name == text);
    match (clients.pop(), clients.is_empty()) {
        (None, _) => Err(LookUpClientError::Unknown),
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            clients.push(last);
            Err(LookUpClientError::Several(clients))
        }
    }
}
