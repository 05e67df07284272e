//! Proofs from others that can be used only once.

use time::OffsetDateTime;
use uuid::Uuid;

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
