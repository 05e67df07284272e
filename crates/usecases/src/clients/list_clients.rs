//! An operator lists clients.

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_ports::StoreError;

use crate::Management;

/// Some clients, and whether there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPage {
    /// The clients, in the order of their ids.
    pub clients: Vec<Client>,
    /// Do more clients follow the last one?
    pub more: bool,
}

/// Lists up to `limit` clients after `after`.
pub async fn list_clients(
    management: Management<'_>,
    after: Option<ClientId>,
    limit: u32,
) -> Result<ClientPage, StoreError> {
    // One more than is shown, to know whether there are more.
    let mut clients = management.clients.list(after, limit.saturating_add(1)).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = clients.len() > most;
    clients.truncate(most);
    Ok(ClientPage { clients, more })
}
