//! Reading what others signed.

use countersign_domain::claims::Claims;
use countersign_domain::key_thumbprint::KeyThumbprint;

/// The algorithms that others may sign with; never `none`, never one with a shared secret.
pub const READ_ALGORITHMS: [&str; 5] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];

/// A JSON Web Signature that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadJws {
    /// The algorithm of its header.
    pub algorithm: String,
    /// The type of its header, without `application/`.
    pub typ: Option<String>,
    /// What was signed.
    pub payload: Vec<u8>,
}

/// Why a signature, or a key, is not taken. None of it is told to those who sent it, but for keys that are registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwsRejected {
    /// Longer than anything that makes sense.
    #[error("too long")]
    TooLong,
    /// Not a JSON Web Signature in its compact form, or a header that says something twice.
    #[error("not a JWS in its compact form")]
    Malformed,
    /// An algorithm that is not taken.
    #[error("alg is none of RS256, PS256, ES256, ES384 and EdDSA")]
    Algorithm,
    /// The header names extensions that must be understood, or lacks the key that it must bring.
    #[error("the header asks for something that is not understood")]
    Header,
    /// None of the keys is the one that the header names. Newer keys may have it.
    #[error("no key fits the header")]
    KeyUnknown,
    /// The keys cannot be used.
    #[error("{0}")]
    Keys(&'static str),
    /// The signature is not of that key over this text.
    #[error("the signature does not match")]
    Signature,
}

/// Reads what others signed. Algorithms are [`READ_ALGORITHMS`], RSA keys have 2048 bits or more, a header with `crit` is
/// refused, and what it says of where keys are (`jku`, `x5u`) is not looked at.
pub trait JwsReader: Send + Sync {
    /// Verifies with one of the keys of a JSON Web Key Set: the one that `kid` names, or where there is none any that fits. A
    /// set with a private or a symmetric key, or with one `kid` twice, is refused as a whole.
    fn read_signed(&self, jws: &str, jwks: &str) -> Result<ReadJws, JwsRejected>;

    /// Verifies with the public key in the header (DPoP), and names that key. It says nothing about whose key it is.
    fn read_self_signed(&self, jws: &str) -> Result<(ReadJws, KeyThumbprint), JwsRejected>;

    /// Are these keys that a client may register: a set as [`JwsReader::read_signed`] takes it, with at least one key that can be
    /// used?
    fn check_keys(&self, jwks: &str) -> Result<(), JwsRejected>;

    /// Reads a payload as claims: one JSON object with no name twice.
    fn read_claims(&self, payload: &[u8]) -> Option<Claims>;
}
