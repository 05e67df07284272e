//! The operator opens a resource to one client, or closes it again. Clients cannot do this themselves.

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_domain::resource::{ResourceRules, ResourceUnfit};
use countersign_ports::{ChangeResources, ResourceChange, StoreError};

use crate::Management;

/// Why a resource is not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenResourceError {
    /// It cannot be a resource.
    #[error("{uri} is {unfit}")]
    Unfit {
        /// The URI as it was given.
        uri: String,
        /// What is wrong with it.
        unfit: ResourceUnfit,
    },
    /// Nobody declared it.
    #[error("{0} is not declared: `countersign resource create` does that, or the setting `resources`")]
    NotDeclared(String),
    /// There is no such client.
    #[error("client is not registered")]
    ClientUnknown,
    /// The client could not be changed.
    #[error("client could not be changed")]
    Store(#[from] StoreError),
}

/// May the operator open these resources to a client?
pub fn judge_opened(rules: &ResourceRules, uris: &[String]) -> Result<(), OpenResourceError> {
    for uri in uris {
        match rules.may_be_opened(uri) {
            Ok(true) => {}
            Ok(false) => return Err(OpenResourceError::NotDeclared(uri.clone())),
            Err(unfit) => return Err(OpenResourceError::Unfit { uri: uri.clone(), unfit }),
        }
    }
    Ok(())
}

/// Opens resources to a client. Those that are open already stay open. By the time of the answer every
/// replica knows the change.
pub async fn open_resources(
    management: Management<'_>,
    id: ClientId,
    uris: &[String],
) -> Result<Client, OpenResourceError> {
    judge_opened(&management.resource_rules().await?, uris)?;
    change(management, id, ResourceChange::Open(uris.to_vec())).await
}

/// Closes resources to a client, even those that the settings no longer declare. Tokens that were issued stay
/// valid until they expire; a refresh gives no new ones for a closed resource.
pub async fn close_resources(
    management: Management<'_>,
    id: ClientId,
    uris: &[String],
) -> Result<Client, OpenResourceError> {
    change(management, id, ResourceChange::Close(uris.to_vec())).await
}

async fn change(
    management: Management<'_>,
    id: ClientId,
    change: ResourceChange,
) -> Result<Client, OpenResourceError> {
    if !management.clients.change_resources(ChangeResources { client: id, change, event: None }).await? {
        return Err(OpenResourceError::ClientUnknown);
    }
    let changed = management.clients.find_fresh(id).await?;
    let client = changed.ok_or(OpenResourceError::ClientUnknown)?;
    tracing::info!(client.id = %id, resources = client.resources.len(), "resources of the client changed");
    Ok(client)
}
