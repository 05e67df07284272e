//! Proofs of others that are good once.

use async_trait::async_trait;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::StoreError;

/// Remembers a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpendProof {
    /// What the proof is known by.
    pub digest: [u8; 32],
    /// Which request brings it: the same one again is this command again.
    pub attempt: Uuid,
    /// A proof whose time ended before this is as good as forgotten: no server's clock takes it any more.
    pub before: OffsetDateTime,
    /// From then on the proof is refused for its age.
    pub forget_after: OffsetDateTime,
}

/// Proofs that were used.
#[async_trait]
pub trait ReplayStore: Send + Sync {
    /// Remembers a proof; the answer says whether it was new. Guard: no proof with this digest is remembered, or its `forget_after`
    /// is before `before`. The same `attempt` again gives the same answer. Durable before the answer.
    async fn spend_proof(&self, command: SpendProof) -> Result<bool, StoreError>;
}
