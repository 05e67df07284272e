//! Addresses: Ed25519 public keys in base58, judged before anybody is asked to sign.

use ed25519_dalek::{Signature, VerifyingKey};

use super::base58;

/// The fewest and the most characters of 32 bytes in base58.
const SHORTEST: usize = 32;
const LONGEST: usize = 44;

/// An address whose private key somebody may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address(VerifyingKey);

impl Address {
    /// Reads an address. Refused are bytes off the curve, which programs own and nobody can sign for (B-044), points of small
    /// order, for which everybody can (B-033, B-040), and second spellings of a point (a coordinate not below the modulus),
    /// which would be second accounts of one key.
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

    /// Checks a signature of exactly these bytes, strictly: `s` below the order, no point of small order (B-040). The plain
    /// check of the same library would let anybody sign for some addresses.
    pub(super) fn signed(&self, bytes: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(bytes, &Signature::from_bytes(signature)).is_ok()
    }
}
