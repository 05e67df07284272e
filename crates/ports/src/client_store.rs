//! Registered clients.

use async_trait::async_trait;
use countersign_domain::client::Client;
use countersign_domain::id::ClientId;

use crate::StoreError;

/// Stores a client that was judged.
#[derive(Clone, Debug)]
pub struct RegisterClient {
    /// The client, with its id.
    pub client: Client,
}

/// What became of [`RegisterClient`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The client is stored; also when this very command was carried out before.
    Stored,
    /// Another client has this id; nothing changed.
    IdTaken,
}

/// The clients.
#[async_trait]
pub trait ClientStore: Send + Sync {
    /// Stores a new client. Guard: its id is free. Durable before the answer.
    async fn register_client(&self, command: RegisterClient) -> Result<Registered, StoreError>;

    /// Replaces everything about a client but its id and `created_at`. The answer says whether it was there. Durable before the
    /// answer; from then on every replica finds the new values.
    async fn update_client(&self, client: Client) -> Result<bool, StoreError>;

    /// Removes a client with all its grants and consents, all or nothing: from then on none of its codes and tokens is found. Grants and
    /// consents that name a client of this id which is not there go as well. The answer says whether it was there. Durable before the answer.
    async fn delete_client(&self, id: ClientId) -> Result<bool, StoreError>;

    /// Reads one client.
    async fn find_client(&self, id: ClientId) -> Result<Option<Client>, StoreError>;

    /// Reads up to `limit` clients in the order of their ids, after `after`.
    async fn list_clients(&self, after: Option<ClientId>, limit: u32) -> Result<Vec<Client>, StoreError>;
}
