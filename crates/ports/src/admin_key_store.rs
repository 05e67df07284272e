//! The keys of the admin interface, and which of their requests were begun before.

use async_trait::async_trait;
use countersign_domain::admin_key::AdminKey;
use countersign_domain::event::Event;
use countersign_domain::id::AdminKeyId;
use time::OffsetDateTime;

use crate::StoreError;

/// Stores an admin key.
#[derive(Clone, Debug)]
pub struct CreateAdminKey {
    /// The key, with its id and its hash.
    pub key: AdminKey,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`CreateAdminKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminKeyCreated {
    /// The key is stored. A repeat of the same command (same id) gives this too.
    Stored,
    /// Another key has this name, perhaps one that was revoked. Nothing changed.
    NameTaken,
}

/// Revokes an admin key.
#[derive(Clone, Debug)]
pub struct RevokeAdminKey {
    /// The key.
    pub id: AdminKeyId,
    /// When.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Begins a request that must not be carried out twice.
#[derive(Clone, Copy, Debug)]
pub struct BeginRequest {
    /// The key that is used.
    pub key: AdminKeyId,
    /// The digest of the request's name, which its sender chose.
    pub name: [u8; 32],
    /// The digest of what is asked.
    pub asked: [u8; 32],
    /// When.
    pub now: OffsetDateTime,
    /// What this key began before this time is forgotten.
    pub forget_before: OffsetDateTime,
}

/// A request that was begun, now or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestBegun {
    /// The digest of what was asked first.
    pub asked: [u8; 32],
    /// When that was.
    pub begun_at: OffsetDateTime,
}

/// The keys of the admin interface. Every write is durable before the answer, and from then on every replica finds
/// the new values.
#[async_trait]
pub trait AdminKeyStore: Send + Sync {
    /// Stores a new key. Guard: no key has its name, not even a revoked one.
    async fn create_admin_key(&self, command: CreateAdminKey) -> Result<AdminKeyCreated, StoreError>;

    /// Revokes a key for good. The answer says whether it existed and was not revoked before.
    async fn revoke_admin_key(&self, command: RevokeAdminKey) -> Result<bool, StoreError>;

    /// Writes down when a key was used. Of two times the later one stays.
    async fn note_admin_key_use(&self, id: AdminKeyId, used_at: OffsetDateTime) -> Result<(), StoreError>;

    /// Reads one key, revoked or not.
    async fn find_admin_key(&self, id: AdminKeyId) -> Result<Option<AdminKey>, StoreError>;

    /// Reads all keys in the order of their ids, those that were revoked too.
    async fn list_admin_keys(&self) -> Result<Vec<AdminKey>, StoreError>;

    /// Begins a request, unless this key began one of the same name that is not forgotten. The answer tells the
    /// first one. Of many at once, one is the first, and all are told the same.
    async fn begin_request(&self, command: BeginRequest) -> Result<RequestBegun, StoreError>;
}
