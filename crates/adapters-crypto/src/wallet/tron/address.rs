//! Addresses: the last twenty bytes of a key's Keccak-256 after the version byte 0x41, in base58 with a checksum.

use k256::ecdsa::VerifyingKey;
use subtle::ConstantTimeEq;

use crate::wallet::secp256k1::{ADDRESS_LENGTH, keccak_of_key};

/// The byte that makes addresses begin with a T.
const VERSION: u8 = 0x41;

/// How many characters an address has.
const CHARACTERS: usize = 34;

/// An address that is not the zero address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address([u8; ADDRESS_LENGTH]);

impl Address {
    /// Reads an address. There is one spelling of it; the hexadecimal forms that nodes use among themselves are no addresses
    /// here.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() != CHARACTERS {
            return None;
        }
        let decoded = bs58::decode(text).with_check(Some(VERSION)).into_vec().ok()?;
        let bytes: [u8; ADDRESS_LENGTH] = decoded.get(1..)?.try_into().ok()?;
        // Nobody has its key; it stands for "no address" (B-027).
        (bytes != [0; ADDRESS_LENGTH]).then_some(Self(bytes))
    }

    /// The address that belongs to a public key.
    pub(super) fn of_key(key: &VerifyingKey) -> Self {
        Self(keccak_of_key(key))
    }

    /// Compares the twenty bytes in a time that does not depend on the answer (B-027).
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}
