//! Signing keys as storage keeps them: sealed, so that a copy of the database signs nothing.

use std::fmt;

use time::OffsetDateTime;

/// A key that signs tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedKey {
    /// The name in the JWKS.
    pub kid: String,
    /// The algorithm, for example `ES256`.
    pub algorithm: String,
    /// The private key, sealed with the operator's secret.
    pub sealed: Vec<u8>,
    /// When it was made.
    pub created_at: OffsetDateTime,
}

impl fmt::Debug for SealedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedKey")
            .field("kid", &self.kid)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
