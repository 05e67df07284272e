//! Signing keys: encrypted, and shared by all replicas.

use async_trait::async_trait;
use countersign_domain::event::Event;
use countersign_domain::signing_key::SealedKey;
use time::OffsetDateTime;

use crate::StoreError;

/// Stores a signing key.
#[derive(Clone, Debug)]
pub struct AddSigningKey {
    /// The key, sealed.
    pub key: SealedKey,
    /// If there is a key that becomes active later than this, the new key is not needed.
    pub unless_after: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Withdraws a signing key.
#[derive(Clone, Debug)]
pub struct WithdrawSigningKey {
    /// The key's id.
    pub kid: String,
    /// The time of the withdrawal.
    pub now: OffsetDateTime,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// Deletes a signing key.
#[derive(Clone, Debug)]
pub struct RemoveSigningKey {
    /// The key's id.
    pub kid: String,
    /// What to record if something changes.
    pub event: Option<Box<Event>>,
}

/// The outcome of [`AddSigningKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAdded {
    /// The key is stored. A repeat of the same command gives this too.
    Stored,
    /// This algorithm already has a later key, because another replica was faster. Read the keys again.
    NotNeeded,
}

/// The server's signing keys.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Stores a key. Guard: no key of its algorithm that is not withdrawn has an `active_from` later than
    /// `unless_after`. If several keys are added at once, one of them is stored, whatever the keys are.
    /// Durable before the answer.
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError>;

    /// Withdraws a key for good. The answer says whether it existed and was not withdrawn before. Durable
    /// before the answer.
    async fn withdraw_signing_key(&self, command: WithdrawSigningKey) -> Result<bool, StoreError>;

    /// Deletes a key. The answer says whether it existed.
    async fn remove_signing_key(&self, command: RemoveSigningKey) -> Result<bool, StoreError>;

    /// Reads all keys, oldest first.
    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError>;
}
