//! EIP-191 version `E`, which wallets call `personal_sign`: what is hashed, and which key signed it.

use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use k256::elliptic_curve::scalar::IsHigh;
use sha3::{Digest, Keccak256};

use super::Address;

/// The two scalars of 32 bytes and the recovery byte. The 64-byte form of ERC-2098 is not read (B-023).
pub(crate) const SIGNATURE_LENGTH: usize = 65;

/// Hashes a message with its prefix. The length in it counts bytes, not characters (B-026).
pub(crate) fn digest(message: &[u8]) -> [u8; 32] {
    let mut hash = Keccak256::new();
    hash.update(b"\x19Ethereum Signed Message:\n");
    hash.update(message.len().to_string().as_bytes());
    hash.update(message);
    hash.finalize().into()
}

/// Finds the address whose key made a signature.
///
/// A signature has one accepted form: `s` in the lower half of the order, so that nobody can make a second one of
/// it (B-022), and a recovery byte that says nothing about chains, because those belong to transactions (B-021).
pub(crate) fn recover(digest: &[u8; 32], signature: &[u8]) -> Result<Address, &'static str> {
    let Some((recovery, scalars)) = signature.split_last() else {
        return Err("it is empty");
    };
    let y_is_odd = match recovery {
        0 | 27 => false,
        1 | 28 => true,
        _ => return Err("its recovery byte is none of 0, 1, 27 and 28"),
    };
    let Ok(scalars) = Signature::from_slice(scalars) else {
        return Err("r or s is zero, or not below the order of the group");
    };
    if scalars.s().is_high().into() {
        return Err("s is in the upper half of the order");
    }
    let Ok(key) = VerifyingKey::recover_from_prehash(digest, &scalars, RecoveryId::new(y_is_odd, false))
    else {
        return Err("no key could have made it");
    };
    Ok(Address::of_key(&key))
}
