//! Signing keys: encrypted, and shared by all replicas.

use countersign_domain::event::Event;
use countersign_domain::signing_key::SealedKey;
use time::OffsetDateTime;

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
