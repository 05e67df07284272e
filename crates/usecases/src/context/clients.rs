//! The clients, and the only way to change them.
//!
//! Nearly every request asks for its client, and clients hardly ever change. So a client that was read is
//! used for 200 ms without asking storage again, and a change is answered after 220 ms. By then no replica
//! uses older values (ADR 0024).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_ports::{ChangeResources, ClientStore, Clock, RegisterClient, Registered, StoreError};

/// How long a client is used, from the moment before it was read.
const USED_FOR: Duration = Duration::from_millis(200);
/// How long a change waits. It is longer, because the clocks of two machines do not run alike.
const FORGOTTEN_AFTER: Duration = Duration::from_millis(220);
/// How many clients are remembered. Each takes about a kilobyte, and 64 of them if it registered as much as
/// it may.
const MOST: usize = 1_024;

/// The clients. Nothing else in the use-cases reaches [`ClientStore`]: a change that did not wait would leave
/// other replicas with the old values after it was answered.
///
/// Copies share what they remember.
#[derive(Clone)]
pub struct Clients {
    storage: Arc<dyn ClientStore>,
    clock: Arc<dyn Clock>,
    by_id: Arc<RwLock<HashMap<ClientId, Remembered>>>,
}

struct Remembered {
    client: Arc<Client>,
    /// On the clock that never goes back.
    until: Duration,
}

impl Clients {
    /// Owns the clients of a storage. Waits and remembers by this clock.
    pub fn new(storage: Arc<dyn ClientStore>, clock: Arc<dyn Clock>) -> Self {
        Self { storage, clock, by_id: Arc::default() }
    }

    /// Finds a client as it is, or as it was a moment ago if its change has not been answered yet.
    pub async fn find(&self, id: ClientId) -> Result<Option<Arc<Client>>, StoreError> {
        // Before it is read: what was changed and answered by this moment is in what is read.
        let asked_at = self.clock.elapsed();
        if let Some(client) = self.remembered(id, asked_at) {
            return Ok(Some(client));
        }
        let found = self.find_fresh(id).await?.map(Arc::new);
        if let Some(client) = &found {
            self.remember(client, asked_at);
        }
        Ok(found)
    }

    /// Reads a client from storage. For whoever decides about a change of it.
    pub async fn find_fresh(&self, id: ClientId) -> Result<Option<Client>, StoreError> {
        self.storage.find_client(id).await
    }

    /// Reads up to `limit` clients with ids greater than `after` from storage, in the order of their ids.
    pub async fn list(&self, after: Option<ClientId>, limit: u32) -> Result<Vec<Client>, StoreError> {
        self.storage.list_clients(after, limit).await
    }

    /// Stores a new client. It is known at once, because nobody remembers that a client is not there.
    pub async fn register(&self, client: Client) -> Result<Registered, StoreError> {
        self.storage.register_client(RegisterClient { client }).await
    }

    /// Replaces everything about a client but its id, `created_at` and what the operator opened to it. The
    /// answer says whether it was there; from then on no replica uses the old values.
    pub async fn update(&self, client: Client) -> Result<bool, StoreError> {
        let updated = self.storage.update_client(client).await;
        // Also after an error: it may have happened.
        self.wait_until_forgotten().await;
        updated
    }

    /// Opens resources to a client, or closes them. The answer says whether it was there; from then on every
    /// replica knows it.
    pub async fn change_resources(&self, command: ChangeResources) -> Result<bool, StoreError> {
        let changed = self.storage.change_resources(command).await;
        self.wait_until_forgotten().await;
        changed
    }

    /// Stores a client again that its document describes, if it has been deleted since it was stored. Where a
    /// deletion is in progress, this waits for its end. Nobody asked for a change and is waiting to hear that
    /// it holds everywhere, so this does not wait for replicas.
    pub async fn keep(&self, client: Client) -> Result<(), StoreError> {
        if !self.storage.update_client(client.clone()).await? {
            self.register(client).await?;
        }
        Ok(())
    }

    /// Deletes a client with all its grants and consents. The answer says whether it was there; from then on
    /// no replica knows it.
    pub async fn delete(&self, id: ClientId) -> Result<bool, StoreError> {
        let deleted = self.storage.delete_client(id).await;
        self.wait_until_forgotten().await;
        let deleted = deleted?;
        // A replica that remembered it may have signed somebody in meanwhile.
        self.storage.delete_client(id).await?;
        Ok(deleted)
    }

    async fn wait_until_forgotten(&self) {
        self.clock.wait(FORGOTTEN_AFTER).await;
    }

    fn remembered(&self, id: ClientId, elapsed: Duration) -> Option<Arc<Client>> {
        let by_id = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        let remembered = by_id.get(&id).filter(|remembered| elapsed < remembered.until);
        remembered.map(|remembered| Arc::clone(&remembered.client))
    }

    fn remember(&self, client: &Arc<Client>, read_at: Duration) {
        let mut by_id = self.by_id.write().unwrap_or_else(PoisonError::into_inner);
        if by_id.len() >= MOST {
            by_id.retain(|_, remembered| read_at < remembered.until);
        }
        // Where all of them are in use, one more would cost more than it saves.
        if by_id.len() < MOST {
            let remembered = Remembered { client: Arc::clone(client), until: read_at + USED_FOR };
            by_id.insert(client.id, remembered);
        }
    }
}

impl fmt::Debug for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clients").finish_non_exhaustive()
    }
}
