//! Registered clients.

use async_trait::async_trait;
use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::Client;
use countersign_domain::id::ClientId;

use crate::StoreError;

/// Stores a client whose metadata was checked.
#[derive(Clone, Debug)]
pub struct RegisterClient {
    /// The client, with its id.
    pub client: Client,
}

/// The outcome of [`RegisterClient`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The client is stored. A repeat of the same command gives this too.
    Stored,
    /// Another client has this id. Nothing changed.
    IdTaken,
}

/// Opens resources to a client, or closes them.
#[derive(Clone, Debug)]
pub struct ChangeResources {
    /// The client.
    pub client: ClientId,
    /// What changes.
    pub change: ResourceChange,
}

/// What changes in the list of resources that are open to a client.
#[derive(Clone, Debug)]
pub enum ResourceChange {
    /// These are opened: added at the end, in this order. Those that are open already stay where they are.
    Open(Vec<String>),
    /// These are closed.
    Close(Vec<String>),
}

impl ResourceChange {
    /// Changes a list of open resources, for adapters that read the list before they write it.
    pub fn apply(&self, open: &mut Vec<String>) {
        match self {
            Self::Open(uris) => {
                for uri in uris {
                    if !open.contains(uri) {
                        open.push(uri.clone());
                    }
                }
            }
            Self::Close(uris) => open.retain(|uri| !uris.contains(uri)),
        }
    }
}

/// Decides whom a client lets in, and which of their groups it is told.
#[derive(Clone, Debug)]
pub struct ChangeAccess {
    /// The client.
    pub client: ClientId,
    /// The client's own rule; `None` if it follows the setting.
    pub rule: Option<AccessRule>,
    /// Which groups it is told; `None` leaves that as it is.
    pub release: Option<Release>,
}

/// Registered clients.
#[async_trait]
pub trait ClientStore: Send + Sync {
    /// Stores a new client. Guard: its id is free. Durable before the answer.
    async fn register_client(&self, command: RegisterClient) -> Result<Registered, StoreError>;

    /// Replaces everything about a client except its id, `created_at`, `resources` and `access`. The answer
    /// says whether the client existed. Durable before the answer; from then on every replica finds the new
    /// values.
    async fn update_client(&self, client: Client) -> Result<bool, StoreError>;

    /// Opens resources to a client, or closes them, atomically: of two changes at the same time, neither is
    /// lost. Everything else about the client stays. The answer says whether the client existed. Idempotent.
    /// Durable before the answer; from then on every replica finds the new list.
    async fn change_resources(&self, command: ChangeResources) -> Result<bool, StoreError>;

    /// Decides whom a client lets in. Everything else about the client stays: of a decision and another change
    /// at the same time, neither is lost. Of two decisions, one comes last, with rule and release together. The
    /// answer says whether the client existed. Idempotent. Durable before the answer; from then on every
    /// replica finds the new rule.
    async fn change_access(&self, command: ChangeAccess) -> Result<bool, StoreError>;

    /// Deletes a client with all its grants and consents, atomically. From then on none of its codes and
    /// tokens is found. Grants and consents that name this id are deleted even if the client does not exist.
    /// The answer says whether it existed. Durable before the answer.
    async fn delete_client(&self, id: ClientId) -> Result<bool, StoreError>;

    /// Reads one client.
    async fn find_client(&self, id: ClientId) -> Result<Option<Client>, StoreError>;

    /// Reads up to `limit` clients with ids greater than `after`, in the order of their ids.
    async fn list_clients(&self, after: Option<ClientId>, limit: u32) -> Result<Vec<Client>, StoreError>;
}
