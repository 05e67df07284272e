//! Addresses: the last twenty bytes of a key's Keccak-256 after the version byte 0x41, in base58 with a
//! checksum.

use k256::ecdsa::VerifyingKey;
use subtle::ConstantTimeEq;

use crate::wallet::secp256k1::{ADDRESS_LENGTH, keccak_of_key};

/// The version byte, which makes addresses begin with a T.
const VERSION: u8 = 0x41;

/// The number of characters in an address.
const CHARACTERS: usize = 34;

/// An address other than the zero address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address([u8; ADDRESS_LENGTH]);

impl Address {
    /// Reads an address in its only accepted form. The hexadecimal forms that nodes use among themselves are
    /// refused.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() != CHARACTERS {
            return None;
        }
        let decoded = bs58::decode(text).with_check(Some(VERSION)).into_vec().ok()?;
        let bytes: [u8; ADDRESS_LENGTH] = decoded.get(1..)?.try_into().ok()?;
        // No one has its key; it means "no address" (B-027).
        (bytes != [0; ADDRESS_LENGTH]).then_some(Self(bytes))
    }

    /// The address of a public key.
    pub(super) fn of_key(key: &VerifyingKey) -> Self {
        Self(keccak_of_key(key))
    }

    /// Compares the twenty bytes in constant time (B-027).
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}
