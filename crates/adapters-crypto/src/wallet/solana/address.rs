//! Addresses: Ed25519 public keys in base58, checked before anyone is asked to sign.

use ed25519_dalek::{Signature, VerifyingKey};

use super::base58;

/// The fewest and the most characters that 32 bytes take in base58.
const SHORTEST: usize = 32;
const LONGEST: usize = 44;

/// An address whose private key someone may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address(VerifyingKey);

impl Address {
    /// Reads an address. Refuses bytes off the curve, which belong to programs and for which no one can sign
    /// (B-044); points of small order, for which everyone can sign (B-033, B-040); and second encodings of a
    /// point (a coordinate not below the modulus), which would be second accounts of one key.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if !(SHORTEST..=LONGEST).contains(&text.len()) {
            return None;
        }
        let bytes = base58(text)?;
        let key = VerifyingKey::from_bytes(&bytes).ok()?;
        let is_canonical = key.to_edwards().compress().to_bytes() == bytes;
        (is_canonical && !key.is_weak()).then_some(Self(key))
    }

    /// The public key.
    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Verifies a signature of exactly these bytes, strictly: `s` below the order, no point of small order
    /// (B-040). The same library's plain check would let anyone sign for some addresses.
    pub(super) fn signed(&self, bytes: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(bytes, &Signature::from_bytes(signature)).is_ok()
    }
}
