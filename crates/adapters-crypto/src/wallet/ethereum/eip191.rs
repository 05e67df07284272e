//! EIP-191 version `E`, which wallets call `personal_sign`: what is hashed, and whose key signed it.

use super::Address;
use crate::wallet::secp256k1;

/// The two scalars of 32 bytes and the recovery byte. The 64-byte form of ERC-2098 is not accepted (B-023).
pub(crate) const SIGNATURE_LENGTH: usize = secp256k1::RECOVERABLE_LENGTH;

/// Hashes a message with its prefix.
pub(crate) fn digest(message: &[u8]) -> [u8; 32] {
    secp256k1::keccak_of_prefixed("\x19Ethereum Signed Message:\n", message)
}

/// Finds the address whose key made a signature.
pub(crate) fn recover(digest: &[u8; 32], signature: &[u8]) -> Result<Address, &'static str> {
    secp256k1::recover(digest, signature).map(|key| Address::of_key(&key))
}
