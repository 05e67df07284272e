//! Registered clients.

use async_trait::async_trait;
use countersign_domain::admission::{AccessRule, Release};
use countersign_domain::client::Client;
use countersign_domain::event::Event;
use countersign_domain::id::ClientId;
use countersign_domain::secret::SecretHash;
use time::OffsetDateTime;

use crate::StoreError;

/// Stores a client whose metadata was checked.
#[derive(Clone, Debug)]
pub struct RegisterClient {
    /// The client, with its id.
    pub client: Client,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`RegisterClient`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The client is stored. A repeat of the same command gives this too.
    Stored,
    /// Another client has this id. Nothing changed.
    IdTaken,
}

/// Replaces what a client registered.
#[derive(Clone, Debug)]
pub struct UpdateClient {
    /// The client, with its new values.
    pub client: Client,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Deletes a client.
#[derive(Clone, Debug)]
pub struct DeleteClient {
    /// Its id.
    pub id: ClientId,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Opens resources to a client, or closes them.
#[derive(Clone, Debug)]
pub struct ChangeResources {
    /// The client.
    pub client: ClientId,
    /// What changes.
    pub change: ResourceChange,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
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
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Gives a client a new secret.
#[derive(Clone, Debug)]
pub struct RotateSecret {
    /// The client.
    pub client: ClientId,
    /// The hash of the secret that is replaced.
    pub replaced: SecretHash,
    /// The hash of the new secret, which no other command has.
    pub hash: SecretHash,
    /// When the new secret was made, in whole seconds.
    pub now: OffsetDateTime,
    /// Until when the replaced secret works; `None` if it ends at once.
    pub keep_old_until: Option<OffsetDateTime>,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Changes a client only if it is still as the caller read it.
#[derive(Clone, Debug)]
pub struct IfClientUnchanged {
    /// The client as it was read.
    pub read: Client,
    /// What changes. It is about that client.
    pub change: ClientChange,
}

/// A change of a client.
#[derive(Clone, Debug)]
pub enum ClientChange {
    /// That of [`ClientStore::update_client`].
    Update(Box<UpdateClient>),
    /// That of [`ClientStore::change_resources`].
    Resources(ChangeResources),
    /// That of [`ClientStore::change_access`].
    Access(ChangeAccess),
    /// That of [`ClientStore::rotate_secret`].
    Secret(RotateSecret),
    /// That of [`ClientStore::delete_client`].
    Delete(DeleteClient),
}

/// A client authenticated with a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretUse {
    /// The client.
    pub client: ClientId,
    /// The hash of the secret.
    pub hash: SecretHash,
    /// When, to the minute.
    pub used_at: OffsetDateTime,
}

/// What is known about a secret of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretRecord {
    /// When it was made; `None` if an earlier release made it, which did not write that down.
    pub created_at: Option<OffsetDateTime>,
    /// When it ends; `None` for the current secret.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was last used, to the minute; `None` if never.
    pub last_used_at: Option<OffsetDateTime>,
}

/// Registered clients.
#[async_trait]
pub trait ClientStore: Send + Sync {
    /// Stores a new client. Guard: its id is free. Durable before the answer.
    async fn register_client(&self, command: RegisterClient) -> Result<Registered, StoreError>;

    /// Replaces everything about a client except its id, `created_at`, `resources`, `access` and its secrets.
    /// The answer says whether the client existed. Durable before the answer; from then on every replica finds
    /// the new values.
    ///
    /// Of the given secrets nothing is stored if the client has secrets: a rotation that the caller has not
    /// seen stays. If the client now authenticates in another way, its secrets are deleted. If it had none,
    /// the current one of those given is stored.
    async fn update_client(&self, command: UpdateClient) -> Result<bool, StoreError>;

    /// Opens resources to a client, or closes them, atomically: of two changes at the same time, neither is
    /// lost. Everything else about the client stays. The answer says whether the client existed. Idempotent.
    /// Durable before the answer; from then on every replica finds the new list.
    async fn change_resources(&self, command: ChangeResources) -> Result<bool, StoreError>;

    /// Decides whom a client lets in. Everything else about the client stays: of a decision and another change
    /// at the same time, neither is lost. Of two decisions, one comes last, with rule and release together. The
    /// answer says whether the client existed. Idempotent. Durable before the answer; from then on every
    /// replica finds the new rule.
    async fn change_access(&self, command: ChangeAccess) -> Result<bool, StoreError>;

    /// Gives a client a new secret, atomically. The replaced secret works on until `keep_old_until`, or ends
    /// at once; one that was replaced earlier ends at once in any case. Everything else about the client
    /// stays. Guard: `replaced` is the current secret. The answer says whether it was; a repeat of the same
    /// command is answered like the first. Durable before the answer.
    async fn rotate_secret(&self, command: RotateSecret) -> Result<bool, StoreError>;

    /// Writes down when secrets were used, in one commit. Of two times for one secret the later one stays,
    /// whatever the order in which they come and whoever brings them. A secret that its client no longer has
    /// is left out. Idempotent.
    async fn note_secret_uses(&self, uses: Vec<SecretUse>) -> Result<(), StoreError>;

    /// Reads what is known about the secrets of a client, the newest first: the current one and, until it is
    /// forgotten, the one before it. Empty if the client has no secret or does not exist.
    async fn secrets_of(&self, client: ClientId) -> Result<Vec<SecretRecord>, StoreError>;

    /// Deletes a client with all its grants and consents, atomically. From then on none of its codes and
    /// tokens is found. Grants and consents that name this id are deleted even if the client does not exist.
    /// The answer says whether it existed. Durable before the answer.
    async fn delete_client(&self, command: DeleteClient) -> Result<bool, StoreError>;

    /// Carries out a change by its own rules, if the client is as it was read: of two callers who read the same,
    /// one changes something. The answer says whether it was so and the change was made. A repeated command
    /// finds another client. Durable before the answer.
    async fn if_client_unchanged(&self, command: IfClientUnchanged) -> Result<bool, StoreError>;

    /// Reads one client.
    async fn find_client(&self, id: ClientId) -> Result<Option<Client>, StoreError>;

    /// Reads up to `limit` clients with ids greater than `after`, in the order of their ids.
    async fn list_clients(&self, after: Option<ClientId>, limit: u32) -> Result<Vec<Client>, StoreError>;
}
