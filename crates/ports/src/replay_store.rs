//! Proofs from others that can be used only once.

use async_trait::async_trait;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::StoreError;

/// Remembers a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpendProof {
    /// The digest that identifies the proof.
    pub digest: [u8; 32],
    /// The request that brings the proof. The same `attempt` again is a repeat of this command.
    pub attempt: Uuid,
    /// A proof whose `forget_after` is before this time counts as forgotten, because no server's clock would
    /// still accept it.
    pub before: OffsetDateTime,
    /// From this time on the proof is refused as too old.
    pub forget_after: OffsetDateTime,
}

/// Proofs that were already used.
#[async_trait]
pub trait ReplayStore: Send + Sync {
    /// Remembers a proof. The answer says whether it was new. Guard: no proof with this digest is remembered,
    /// or its `forget_after` is before `before`. The same `attempt` gives the same answer again. Durable
    /// before the answer.
    async fn spend_proof(&self, command: SpendProof) -> Result<bool, StoreError>;
}
