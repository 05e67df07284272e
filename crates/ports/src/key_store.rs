//! Signing keys, sealed, shared by all replicas.

use async_trait::async_trait;
use countersign_domain::signing_key::SealedKey;

use crate::StoreError;

/// Stores a signing key.
#[derive(Clone, Debug)]
pub struct AddSigningKey {
    /// The key.
    pub key: SealedKey,
}

/// What became of [`AddSigningKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAdded {
    /// The key is stored; also when this very command was carried out before.
    Stored,
    /// There is a key for this algorithm already: another replica was faster. Read again.
    AlgorithmTaken,
}

/// The signing keys.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Stores a key. Guard: no key for its algorithm is there. Durable before the answer.
    async fn add_signing_key(&self, command: AddSigningKey) -> Result<KeyAdded, StoreError>;

    /// Reads all keys, oldest first.
    async fn signing_keys(&self) -> Result<Vec<SealedKey>, StoreError>;
}
