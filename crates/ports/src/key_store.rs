//! Signing keys, sealed, shared by all replicas.

use async_trait::async_trait;
use countersign_domain::signing_key::SealedKey;
use time::OffsetDateTime;

use crate::StoreError;

/// Stores a signing key.
#[derive(Clone, Debug)]
pub struct AddSigningKey {
    /// The key.
    pub key: SealedKey,
    /// A key that begins later than this makes the new one unnecessary.
    pub unless_after: OffsetDateTime,
}

/// What became of [`AddSigningKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAdded {
    /// The key is stored; also when this very command was carried out before.
    Stored,
    /// There is a later key for this algorithm already: another replica was faster. Read again.
    NotNeeded,
}

/// The signing keys.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Stores a key. Guard: no key of its algorithm that is not withdrawn has `active_from` later than `unless_after`. Of
    /// several that add one at once, whatever their keys, one succeeds. Durable before the answer.
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError>;

    /// Gives a key up for ever. The answer says whether it was there and not withdrawn before. Durable before the answer.
    async fn withdraw_signing_key(&self, kid: &str, now: OffsetDateTime) -> Result<bool, StoreError>;

    /// Forgets a key. The answer says whether it was there.
    async fn remove_signing_key(&self, kid: &str) -> Result<bool, StoreError>;

    /// Reads all keys, oldest first.
    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError>;
}
