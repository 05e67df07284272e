//! Epochs: what was handed out before a backup was restored is good no longer.

use async_trait::async_trait;
use countersign_domain::epoch::Epoch;
use countersign_domain::event::Event;
use countersign_domain::id::EpochId;
use time::OffsetDateTime;

use crate::StoreError;

/// Begins an epoch.
#[derive(Clone, Debug)]
pub struct RaiseEpoch {
    /// Its id.
    pub id: EpochId,
    /// When it begins.
    pub now: OffsetDateTime,
    /// What to record.
    pub event: Option<Box<Event>>,
}

/// Where a store keeps its epochs.
#[async_trait]
pub trait EpochStore: Send + Sync {
    /// The epoch of now: the one with the highest number; `None` if no backup was ever restored. A server reads it once, when it
    /// starts, because nothing else may use a database while a backup is being restored into it.
    async fn epoch(&self) -> Result<Option<Epoch>, StoreError>;

    /// Begins an epoch, and ends what could still be presented. Guard: no epoch has this id; a repeat changes nothing and gives the
    /// same epoch. Its number is one more than the highest. Gone afterwards:
    ///
    /// - all grants and tokens, and so all codes, access tokens and refresh tokens;
    /// - all login sessions, pushed requests and device requests;
    /// - the confirmation links of e-mail addresses; the addresses stay;
    /// - leases, and replicas that were seen.
    ///
    /// A server that still runs may remember access tokens that it saw: it must not be running.
    ///
    /// Proposals that wait expire now. Every user is known from now on ([`Upkeep::forget_unused`](crate::Upkeep::forget_unused)):
    /// which of them clients were told about after the backup was made, nobody knows. Spent challenges and spent proofs stay, and so
    /// does everything else: users, wallets, consents, clients, groups, blocks, events, keys.
    async fn raise_epoch(&self, command: RaiseEpoch) -> Result<Epoch, StoreError>;
}
