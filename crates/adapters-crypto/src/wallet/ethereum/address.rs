//! Addresses: twenty bytes, written with the checksum of EIP-55.

use k256::ecdsa::VerifyingKey;
use sha3::{Digest, Keccak256};
use subtle::ConstantTimeEq;

use crate::wallet::secp256k1;

/// The length of an address in bytes.
const LENGTH: usize = secp256k1::ADDRESS_LENGTH;

/// An address other than the zero address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address([u8; LENGTH]);

impl Address {
    /// Reads an address as people write it: with the right checksum, or in one case without a checksum. Also
    /// returns the form with the checksum.
    pub(crate) fn parse(text: &str) -> Option<(Self, String)> {
        let digits = text.strip_prefix("0x")?;
        let mut bytes = [0; LENGTH];
        hex::decode_to_slice(digits, &mut bytes).ok()?;
        // No one has its key; it means "no address" (B-027).
        if bytes == [0; LENGTH] {
            return None;
        }
        let address = Self(bytes);
        let lower = digits.bytes().any(|digit| digit.is_ascii_lowercase());
        let upper = digits.bytes().any(|digit| digit.is_ascii_uppercase());
        let checksummed = address.checksummed();
        let checksum_is_right = !(lower && upper) || checksummed == text;
        checksum_is_right.then_some((address, checksummed))
    }

    /// The address of a public key: the last twenty bytes of the hash of its coordinates.
    pub(crate) fn of_key(key: &VerifyingKey) -> Self {
        Self(secp256k1::keccak_of_key(key))
    }

    /// Writes the address with the checksum of EIP-55: a letter is upper case if the corresponding digit in
    /// the hash of the lower-case address is 8 or more.
    pub(crate) fn checksummed(&self) -> String {
        let digits = hex::encode(self.0);
        let hash = Keccak256::digest(digits.as_bytes());
        let mut text = String::with_capacity(2 + digits.len());
        text.push_str("0x");
        for (position, digit) in digits.chars().enumerate() {
            let byte = hash[position / 2];
            let nibble = if position % 2 == 0 { byte >> 4 } else { byte & 0x0f };
            text.push(if nibble >= 8 { digit.to_ascii_uppercase() } else { digit });
        }
        text
    }

    /// The twenty bytes.
    pub(crate) fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }

    /// Compares the twenty bytes in constant time (B-027).
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}
