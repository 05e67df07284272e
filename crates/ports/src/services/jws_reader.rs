//! Reading signatures that others made.

use countersign_domain::claims::Claims;
use countersign_domain::key_thumbprint::KeyThumbprint;

/// The algorithms that others can sign with. Never `none`, and never one with a shared secret.
pub const READ_ALGORITHMS: [&str; 5] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];

/// A JSON Web Signature whose signature was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadJws {
    /// The `alg` of its header.
    pub algorithm: String,
    /// The `typ` of its header, without `application/`.
    pub typ: Option<String>,
    /// The signed bytes.
    pub payload: Vec<u8>,
}

/// Why a signature or a key is not accepted. The sender does not learn the reason, except when registering
/// keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwsRejected {
    /// Longer than any sensible input.
    #[error("too long")]
    TooLong,
    /// Not a JSON Web Signature in compact form, or a header that repeats a member.
    #[error("not a JWS in its compact form")]
    Malformed,
    /// The algorithm is not accepted.
    #[error("alg is not one of RS256, PS256, ES256, ES384 and EdDSA")]
    Algorithm,
    /// The header names extensions that must be understood, or lacks the key that it must contain.
    #[error("the header requires something that is not supported")]
    Header,
    /// No key matches the header. A newer key set can have one.
    #[error("no key matches the header")]
    KeyUnknown,
    /// The keys cannot be used.
    #[error("{0}")]
    Keys(&'static str),
    /// The signature was not made by that key over this text.
    #[error("the signature does not match")]
    Signature,
}

/// Reads signatures that others made. The algorithms are [`READ_ALGORITHMS`], and RSA keys have at least 2048
/// bits. A header with `crit` is refused, and header members that say where keys are (`jku`, `x5u`) are
/// ignored.
pub trait JwsReader: Send + Sync {
    /// Verifies with a key from a JSON Web Key Set: the one that `kid` names or, without a `kid`, any that
    /// fits. A set with a private or symmetric key, or with the same `kid` twice, is refused as a whole.
    fn read_signed(&self, jws: &str, jwks: &str) -> Result<ReadJws, JwsRejected>;

    /// Verifies with the public key in the header (DPoP), and returns that key's thumbprint. This does not
    /// say whose key it is.
    fn read_self_signed(&self, jws: &str) -> Result<(ReadJws, KeyThumbprint), JwsRejected>;

    /// Can a client register these keys: a set that [`JwsReader::read_signed`] accepts, with at least one
    /// usable key?
    fn check_keys(&self, jwks: &str) -> Result<(), JwsRejected>;

    /// Reads a payload as claims: one JSON object that repeats no name.
    fn read_claims(&self, payload: &[u8]) -> Option<Claims>;
}
