//! Clients that were read just now.
//!
//! Nearly every request asks for its client, and clients hardly ever change. So a client that was read is used for a fifth of a
//! second, without asking the storage; and whoever changes or removes one gets the answer when that time has passed, so that by then
//! no replica has anything older in mind (ADR 0024).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_ports::StoreError;

use crate::Context;

/// How long a client that was read is used, from before it was read.
const USED_FOR: Duration = Duration::from_millis(200);
/// How long a change waits: longer, because the clocks of two machines do not run alike.
const FORGOTTEN_AFTER: Duration = Duration::from_millis(220);
/// How many clients are remembered; each takes about a kilobyte, and 64 of them if it registered as much as it may.
const MOST: usize = 1_024;

/// The clients that were read just now.
#[derive(Default)]
pub struct RememberedClients {
    by_id: RwLock<HashMap<ClientId, Remembered>>,
}

struct Remembered {
    client: Arc<Client>,
    /// On the clock that never goes back.
    until: Duration,
}

impl RememberedClients {
    fn get(&self, id: ClientId, elapsed: Duration) -> Option<Arc<Client>> {
        let by_id = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        let remembered = by_id.get(&id).filter(|remembered| elapsed < remembered.until);
        remembered.map(|remembered| Arc::clone(&remembered.client))
    }

    fn put(&self, client: &Arc<Client>, read_at: Duration) {
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

impl Context {
    /// Finds a client as it is, or as it was a moment ago if whoever changed it still waits for the answer.
    pub async fn find_client(&self, id: ClientId) -> Result<Option<Arc<Client>>, StoreError> {
        // Before it is read: a change that is answered after this moment and the time of use is in what is read.
        let asked_at = self.clock.elapsed();
        if let Some(client) = self.clients.get(id, asked_at) {
            return Ok(Some(client));
        }
        let found = self.storage.find_client(id).await?.map(Arc::new);
        if let Some(client) = &found {
            self.clients.put(client, asked_at);
        }
        Ok(found)
    }

    /// Replaces everything about a client but its id and `created_at`. The answer says whether it was there; from then on nobody uses
    /// the old values.
    pub async fn update_client(&self, client: Client) -> Result<bool, StoreError> {
        let updated = self.storage.update_client(client).await;
        // Also after an error: it may have happened.
        self.clock.wait(FORGOTTEN_AFTER).await;
        updated
    }

    /// Removes a client with all its grants and consents. The answer says whether it was there; from then on nobody knows it.
    pub async fn delete_client(&self, id: ClientId) -> Result<bool, StoreError> {
        let deleted = self.storage.delete_client(id).await;
        self.clock.wait(FORGOTTEN_AFTER).await;
        let deleted = deleted?;
        // Somebody who remembered it may have signed in meanwhile.
        self.storage.delete_client(id).await?;
        Ok(deleted)
    }
}

impl fmt::Debug for RememberedClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RememberedClients").finish_non_exhaustive()
    }
}
