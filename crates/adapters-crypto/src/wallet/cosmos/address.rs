//! Addresses: the twenty bytes of a key's hash in bech32 (BIP-173), with the prefix of their chain.

use bech32::Bech32;
use bech32::primitives::decode::CheckedHrpstring;
use bitcoin::hashes::{Hash, hash160};
use subtle::{Choice, ConstantTimeEq};

/// The length of an account that has a key. Accounts of modules and contracts have 32 bytes and no key.
const LENGTH: usize = 20;

/// An address in its canonical form, whatever its prefix.
#[derive(Clone, Debug)]
pub(super) struct Address {
    canonical: String,
    prefix_length: usize,
    key_hash: [u8; LENGTH],
}

impl Address {
    /// Reads an address as people write it: all lower case or all upper case.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let decoded = CheckedHrpstring::new::<Bech32>(text).ok()?;
        let key_hash = decoded.byte_iter().collect::<Vec<_>>().try_into().ok()?;
        // Twenty bytes are exactly 32 characters, without stray bits. Further characters would have no
        // meaning.
        if decoded.data_part_ascii_no_checksum().len() * 5 != LENGTH * 8 {
            return None;
        }
        Some(Self { canonical: text.to_ascii_lowercase(), prefix_length: decoded.hrp().len(), key_hash })
    }

    /// The canonical form, in lower case.
    pub(super) fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The prefix of the address, in lower case.
    pub(super) fn prefix(&self) -> &str {
        self.canonical.get(..self.prefix_length).unwrap_or_default()
    }

    /// Checks in constant time whether a compressed key belongs to the account (B-027).
    pub(super) fn is_of_key(&self, compressed: &[u8]) -> Choice {
        hash160::Hash::hash(compressed).to_byte_array().ct_eq(&self.key_hash)
    }
}
