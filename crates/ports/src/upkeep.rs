//! Keeping the store small, and asking whether it is there.

use async_trait::async_trait;
use time::OffsetDateTime;

use crate::StoreError;

/// Forgets what nothing can need any more.
#[derive(Clone, Copy, Debug)]
pub struct PurgeExpired {
    /// Whatever may be forgotten before this time goes.
    pub before: OffsetDateTime,
    /// How many rows at the most.
    pub limit: u32,
}

/// What became of [`PurgeExpired`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purged {
    /// How many rows went.
    pub rows: u64,
    /// Is there more to do?
    pub more: bool,
}

/// Upkeep.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Removes grants, spent challenges, spent proofs and requests of devices whose `forget_after`, tokens whose
    /// [`Token::forget_after`], login sessions and pushed requests whose `expires_at` has passed, oldest first, each of the seven up
    /// to the limit. Grants are taken in the order in which they could have gone when they were last looked at: what a
    /// refresh adds to their time is found out when that comes. What could still be presented and mean something stays: a used challenge
    /// while its text is good, a rotated refresh token while it has not expired.
    ///
    /// [`Token::forget_after`]: countersign_domain::token::Token::forget_after
    async fn purge_expired(&self, command: PurgeExpired) -> Result<Purged, StoreError>;

    /// Asks whether the store answers and can be written, by a small write that is durable when this returns. It changes nothing that
    /// anybody reads. An error says that other writes would fail too: a full disk, a server that takes reads only, a file that is gone.
    async fn ping(&self) -> Result<(), StoreError>;
}
