//! The signing keys as an operator sees and changes them. The store that keeps them sealed cannot make one.

use async_trait::async_trait;
use countersign_domain::event::Cause;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::signing_key::KeyState;
use time::OffsetDateTime;

use crate::StoreError;
use crate::error::Source;

/// A signing key, without the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedKey {
    /// Its id.
    pub kid: String,
    /// What it signs with.
    pub algorithm: String,
    /// What it does now.
    pub state: KeyState,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// From when on it signs.
    pub active_from: OffsetDateTime,
    /// When it was withdrawn, if it was.
    pub withdrawn_at: Option<OffsetDateTime>,
    /// When it may be forgotten, if it no longer signs.
    pub forget_after: Option<OffsetDateTime>,
}

/// When new keys sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRotation {
    /// After everyone who caches the key set has them.
    InADay,
    /// Now, and the old keys are withdrawn.
    AtOnce,
}

/// The keys that were made and withdrawn, as pairs of id and algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RotatedKeys {
    /// Made.
    pub made: Vec<(String, String)>,
    /// Withdrawn.
    pub withdrawn: Vec<(String, String)>,
}

/// Why the keys stay as they are.
#[derive(Debug, thiserror::Error)]
pub enum KeyRingError {
    /// Another server was faster.
    #[error("{0} was rotated by someone else in the meantime: nothing was done")]
    RotatedMeanwhile(&'static str),
    /// They were made before.
    #[error("the next keys already exist; `countersign key rotate --now` replaces all keys at once")]
    NextExist,
    /// No key has this id.
    #[error("no signing key has the id {0}")]
    Unknown(String),
    /// It was withdrawn before.
    #[error("the key {0} is already withdrawn")]
    AlreadyWithdrawn(String),
    /// Without it nothing could be signed.
    #[error(
        "the key {kid} is the only one that can sign with {algorithm}: `countersign key rotate --now --algorithm {algorithm}` \
         replaces it"
    )]
    OnlyOne {
        /// Its id.
        kid: String,
        /// What it signs with.
        algorithm: &'static str,
    },
    /// Another server was faster.
    #[error("the key {0} was withdrawn by someone else in the meantime")]
    WithdrawnMeanwhile(String),
    /// The stored keys are sealed with another secret, or a key could not be made.
    #[error("key could not be made or opened")]
    Unusable(#[source] Source),
    /// The keys could not be read or changed.
    #[error("signing keys could not be read or changed")]
    Store(#[from] StoreError),
}

/// The signing keys.
#[async_trait]
pub trait KeyRing: Send + Sync {
    /// All keys, by algorithm, oldest first.
    async fn list(&self, now: OffsetDateTime) -> Result<Vec<ListedKey>, StoreError>;

    /// Makes the next key of each of these algorithms that needs one. The cause goes into the events.
    async fn rotate(
        &self,
        now: OffsetDateTime,
        cause: &Cause,
        rotation: KeyRotation,
        algorithms: &[SigningAlgorithm],
    ) -> Result<RotatedKeys, KeyRingError>;

    /// Withdraws a key for good: it is no longer published, and what it signed becomes invalid. Returns its
    /// algorithm.
    async fn withdraw(&self, now: OffsetDateTime, cause: &Cause, kid: &str) -> Result<String, KeyRingError>;
}
