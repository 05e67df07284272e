//! The clients, and the only way to change them.
//!
//! Nearly every request asks for its client, and clients hardly ever change. So a client that was read is
//! used for 200 ms without asking storage again, and a change is answered after 220 ms. By then no replica
//! uses older values (ADR 0024).

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_ports::{
    ChangeAccess, ChangeResources, ClientStore, Clock, DeleteClient, RegisterClient, Registered,
    RotateSecret, SecretRecord, SortClients, SortedClients, StoreError, UpdateClient,
};
use countersign_ports::{ClientChange, IfClientUnchanged};

use super::moment::{until_forgotten, used_until};

/// How many clients are remembered. Each takes about a kilobyte, or 64 KB if it registered as much as it may.
const MOST: usize = 1_024;

/// The clients. Nothing else in the use-cases can reach [`ClientStore`]: a change that did not wait would be
/// answered while other replicas still use the old values.
///
/// Copies share what they remember.
#[derive(Clone)]
pub struct Clients {
    storage: Arc<dyn ClientStore>,
    clock: Arc<dyn Clock>,
    by_id: Arc<RwLock<HashMap<ClientId, Remembered>>>,
    guard: Option<Arc<Guard>>,
}

/// A client as it was read for a change, which is made only if the client is still the same.
struct Guard {
    read: Client,
    /// It was like that, and was changed. What belongs to the same change follows.
    is_past: AtomicBool,
}

struct Remembered {
    client: Arc<Client>,
    /// By the monotonic clock.
    until: Duration,
}

impl Clients {
    /// Owns the clients of a storage. Uses the clock to wait and to forget.
    pub fn new(storage: Arc<dyn ClientStore>, clock: Arc<dyn Clock>) -> Self {
        Self { storage, clock, by_id: Arc::default(), guard: None }
    }

    /// The same clients for one change of one of them: it is only carried out if the client is still as it was
    /// read. If it is not, it counts as unknown. Of two who read the same, one changes it.
    #[must_use]
    pub fn only_if_still(&self, read: Client) -> Self {
        let guard = Guard { read, is_past: AtomicBool::new(false) };
        Self { guard: Some(Arc::new(guard)), ..self.clone() }
    }

    /// Is a change only carried out if the client is as it was read?
    pub(crate) const fn are_guarded(&self) -> bool {
        self.guard.is_some()
    }

    /// Carries out a change if there is no guard or the client is as it was read; `None` if there is no guard.
    async fn guarded(&self, change: impl FnOnce() -> ClientChange) -> Option<Result<bool, StoreError>> {
        let guard = self.guard.as_ref().filter(|guard| !guard.is_past.load(Ordering::Relaxed))?;
        let command = IfClientUnchanged { read: guard.read.clone(), change: change() };
        let changed = self.storage.if_client_unchanged(command).await;
        if matches!(changed, Ok(true)) {
            guard.is_past.store(true, Ordering::Relaxed);
        }
        Some(changed)
    }

    /// Finds a client as it is, or as it was a moment ago if its change has not been answered yet.
    pub async fn find(&self, id: ClientId) -> Result<Option<Arc<Client>>, StoreError> {
        // Taken before reading, so that every change that was answered by then is in what we read.
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

    /// Reads a client from storage, for callers that are about to change it.
    pub async fn find_fresh(&self, id: ClientId) -> Result<Option<Client>, StoreError> {
        self.storage.find_client(id).await
    }

    /// Reads up to `limit` clients with ids greater than `after` from storage, in the order of their ids.
    pub async fn list(&self, after: Option<ClientId>, limit: u32) -> Result<Vec<Client>, StoreError> {
        self.storage.list_clients(after, limit).await
    }

    /// Reads a page of clients from storage, in an order that an operator chose.
    pub async fn sort(&self, question: SortClients) -> Result<SortedClients, StoreError> {
        self.storage.sort_clients(question).await
    }

    /// Stores a new client. Every replica finds it at once, because a missing client is never cached.
    pub async fn register(&self, command: RegisterClient) -> Result<Registered, StoreError> {
        self.storage.register_client(command).await
    }

    /// Replaces everything about a client except its id, its `created_at`, its secrets and the resources that
    /// the operator opened to it. The answer says whether the client exists. By then no replica uses the old values.
    pub async fn update(&self, command: UpdateClient) -> Result<bool, StoreError> {
        let updated = match self.guarded(|| ClientChange::Update(Box::new(command.clone()))).await {
            Some(updated) => updated,
            None => self.storage.update_client(command).await,
        };
        // After an error too: the change may have been stored.
        self.wait_until_forgotten().await;
        updated
    }

    /// Opens resources to a client, or closes them. The answer says whether the client exists. By then every
    /// replica knows the change.
    pub async fn change_resources(&self, command: ChangeResources) -> Result<bool, StoreError> {
        let change = || ClientChange::Resources(command.clone());
        let changed = match self.guarded(change).await {
            Some(changed) => changed,
            None => self.storage.change_resources(command).await,
        };
        self.wait_until_forgotten().await;
        changed
    }

    /// Decides who can sign in to a client. The answer says whether the client exists. By then every replica
    /// knows the change.
    pub async fn change_access(&self, command: ChangeAccess) -> Result<bool, StoreError> {
        let change = || ClientChange::Access(command.clone());
        let changed = match self.guarded(change).await {
            Some(changed) => changed,
            None => self.storage.change_access(command).await,
        };
        self.wait_until_forgotten().await;
        changed
    }

    /// Gives a client a new secret, if the replaced one is its current one. The answer says whether it was. By
    /// then every replica knows the new secret, and refuses the ones that ended.
    pub async fn rotate_secret(&self, command: RotateSecret) -> Result<bool, StoreError> {
        let rotated = match self.guarded(|| ClientChange::Secret(command.clone())).await {
            Some(rotated) => rotated,
            None => self.storage.rotate_secret(command).await,
        };
        if !matches!(rotated, Ok(false)) {
            self.wait_until_forgotten().await;
        }
        rotated
    }

    /// Reads what is known about the secrets of a client, the newest first. An old one that has ended may still
    /// be there.
    pub async fn secrets_of(&self, id: ClientId) -> Result<Vec<SecretRecord>, StoreError> {
        self.storage.secrets_of(id).await
    }

    /// Stores the client of a document once more, in case it was deleted in the meantime. If a deletion is in
    /// progress, this waits for it to end. It does not wait for replicas, because no caller expects a change
    /// to hold everywhere afterwards. There is no event for it, because its document says what the client is.
    pub async fn keep(&self, client: Client) -> Result<(), StoreError> {
        if !self.storage.update_client(UpdateClient { client: client.clone(), event: None }).await? {
            self.register(RegisterClient { client, event: None }).await?;
        }
        Ok(())
    }

    /// Deletes a client with all its grants and consents. The answer says whether the client existed. By then
    /// no replica knows it.
    pub async fn delete(&self, command: DeleteClient) -> Result<bool, StoreError> {
        let id = command.id;
        let deleted = match self.guarded(|| ClientChange::Delete(command.clone())).await {
            // It was changed, so it stays.
            Some(Ok(false)) => return Ok(false),
            Some(deleted) => deleted,
            None => self.storage.delete_client(command).await,
        };
        self.wait_until_forgotten().await;
        let deleted = deleted?;
        // In the meantime, a replica that had cached the client may have signed a user in to it.
        self.storage.delete_client(DeleteClient { id, event: None }).await?;
        Ok(deleted)
    }

    async fn wait_until_forgotten(&self) {
        until_forgotten(&*self.clock).await;
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
        // If all of them are still in use, remembering one more would cost more than it saves.
        if by_id.len() < MOST {
            let remembered = Remembered { client: Arc::clone(client), until: used_until(read_at) };
            by_id.insert(client.id, remembered);
        }
    }
}

impl fmt::Debug for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clients").finish_non_exhaustive()
    }
}
