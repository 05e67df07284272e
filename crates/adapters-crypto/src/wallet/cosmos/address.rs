//! Addresses: twenty bytes of a key's hash in bech32 (BIP-173), after the beginning of their chain.

use bech32::Bech32;
use bech32::primitives::decode::CheckedHrpstring;
use bitcoin::hashes::{Hash, hash160};
use subtle::{Choice, ConstantTimeEq};

/// How many bytes an account with a key has. Accounts of modules and contracts have 32, and no key.
const LENGTH: usize = 20;

/// An address in its canonical form, whatever chain it begins with.
#[derive(Clone, Debug)]
pub(super) struct Address {
    canonical: String,
    prefix_length: usize,
    key_hash: [u8; LENGTH],
}

impl Address {
    /// Reads an address as people write it: all letters lower, or all upper.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let decoded = CheckedHrpstring::new::<Bech32>(text).ok()?;
        let key_hash = decoded.byte_iter().collect::<Vec<_>>().try_into().ok()?;
        // Twenty bytes are 32 characters without a stray bit; with more characters, the last ones would mean nothing.
        if decoded.data_part_ascii_no_checksum().len() * 5 != LENGTH * 8 {
            return None;
        }
        Some(Self { canonical: text.to_ascii_lowercase(), prefix_length: decoded.hrp().len(), key_hash })
    }

    /// The one spelling: lower case.
    pub(super) fn canonical(&self) -> &str {
        &self.canonical
    }

    /// How the address begins, in lower case.
    pub(super) fn prefix(&self) -> &str {
        self.canonical.get(..self.prefix_length).unwrap_or_default()
    }

    /// Whether a key in its compressed form is the account's, in a time that does not depend on the answer (B-027).
    pub(super) fn is_of_key(&self, compressed: &[u8]) -> Choice {
        hash160::Hash::hash(compressed).to_byte_array().ct_eq(&self.key_hash)
    }
}
