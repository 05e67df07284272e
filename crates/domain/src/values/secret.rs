//! Secrets that we hand out, and the hashes of them that we store.
//!
//! Every secret here has at least 256 random bits, so a single SHA-256 is the right hash. Guessing is
//! impossible, and a slow hash would only help someone who wants to keep the server busy.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};
use uuid::Uuid;

/// A value that must not appear in a log: its `Debug` is `Secret(..)` and it has no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value from outside.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Makes a secret of 256 random bits in the alphabet `[A-Za-z0-9_-]`. In this alphabet the raw and the
    /// form-encoded spelling are equal, which helps because many libraries skip that encoding in HTTP Basic.
    pub fn from_random(random: [u8; 32]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(random))
    }

    /// Makes a secret that contains the id of its row: 16 bytes of id, then 256 random bits.
    ///
    /// The id lets storage find the row by its ordered key. It proves nothing; the hash of the whole secret
    /// does.
    pub fn with_id(id: Uuid, random: [u8; 32]) -> Self {
        let mut bytes = [0_u8; 48];
        bytes[..16].copy_from_slice(id.as_bytes());
        bytes[16..].copy_from_slice(&random);
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Reads the id from a secret made by [`Secret::with_id`]; `None` for any other value.
    pub fn id(&self) -> Option<Uuid> {
        let mut bytes = [0_u8; 48];
        if self.0.len() != 64 {
            return None;
        }
        let length = URL_SAFE_NO_PAD.decode_slice(&self.0, &mut bytes).ok()?;
        (length == bytes.len()).then(|| Uuid::from_slice(&bytes[..16]).ok())?
    }

    /// Reveals the value, only where it is sent or compared.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Is the value empty?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The hash of a secret that storage keeps: its SHA-256.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// Hashes a secret.
    pub fn of(secret: &Secret) -> Self {
        Self(Sha256::digest(secret.expose().as_bytes()).into())
    }

    /// Wraps a hash from storage.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for storage.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Is this the hash of the presented secret? Runs in constant time.
    pub fn admits(&self, presented: &Secret) -> bool {
        self.ct_eq(&Self::of(presented)).into()
    }
}

impl ConstantTimeEq for SecretHash {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints_itself() {
        let secret = Secret::from_random([9; 32]);
        let shown = format!("{secret:?} {:?}", SecretHash::of(&secret));
        assert_eq!(shown, "Secret(..) SecretHash(..)");
    }

    #[test]
    fn a_secret_with_an_id_gives_the_id_back_and_a_truncated_one_does_not() {
        let id = Uuid::from_u128(42);
        let secret = Secret::with_id(id, [1; 32]);
        assert_eq!(secret.expose().len(), 64);
        assert_eq!(secret.id(), Some(id));
        assert_eq!(Secret::new(&secret.expose()[..63]).id(), None, "A-081");
        assert_eq!(Secret::new(format!("{}A", secret.expose())).id(), None);
        assert_eq!(Secret::new("é".repeat(32)).id(), None);
    }

    #[test]
    fn a_hash_admits_its_own_secret_only() {
        let hash = SecretHash::of(&Secret::new("one"));
        assert!(hash.admits(&Secret::new("one")));
        assert!(!hash.admits(&Secret::new("two")));
        assert!(!hash.admits(&Secret::new("")), "E-34: empty never equals anything");
    }
}
