//! Signed messages by BIP-137, of 65 bytes: a header with the kind of address and which of the possible keys
//! signed, then r and s.

use bitcoin::consensus::serialize;
use bitcoin::hashes::{Hash, sha256d};
use bitcoin::secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use bitcoin::secp256k1::{Message, Secp256k1};
use bitcoin::{PublicKey, ScriptBuf};
use subtle::ConstantTimeEq;

use super::address::Holder;

/// The header, r and s.
pub(super) const SIGNATURE_LENGTH: usize = 65;

/// What the header says about the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signer {
    UncompressedKey,
    CompressedKey,
    SegwitKeyInScript,
    SegwitKey,
}

/// Hashes a message after the coin's magic. Both lengths count bytes (B-026, B-036).
pub(super) fn digest(magic: &str, message: &str) -> [u8; 32] {
    let bytes = [serialize(&magic.to_owned()), serialize(&message.to_owned())].concat();
    sha256d::Hash::hash(&bytes).to_byte_array()
}

/// Checks that the holder made a signature.
///
/// The header must name the address's own kind (B-035). Some wallets write the headers of P2PKH for segwit
/// addresses; P-07 excludes these. No header exists for scripts and Taproot, whose holders sign by BIP-322
/// (B-038). Of the two possible values of s only the lower one is accepted, and every wallet makes that one:
/// otherwise anyone could turn one signature into a second one.
pub(super) fn judge(holder: &Holder, digest: [u8; 32], signature: &[u8]) -> Result<(), &'static str> {
    let Some((header, scalars)) = signature.split_first() else {
        return Err("it is empty");
    };
    let (signer, candidate) = match header {
        27..=30 => (Signer::UncompressedKey, header - 27),
        31..=34 => (Signer::CompressedKey, header - 31),
        35..=38 => (Signer::SegwitKeyInScript, header - 35),
        39..=42 => (Signer::SegwitKey, header - 39),
        _ => return Err("it has 65 bytes, but the first is not a BIP-137 header"),
    };
    let is_for_this_kind = match holder {
        Holder::Key(_) => matches!(signer, Signer::UncompressedKey | Signer::CompressedKey),
        Holder::Script(_) => signer == Signer::SegwitKeyInScript,
        Holder::SegwitKey(_) => signer == Signer::SegwitKey,
        Holder::SegwitScript(_) => {
            return Err("BIP-137 has no signatures for script addresses; use BIP-322");
        }
        Holder::Taproot(_) => return Err("BIP-137 has no signatures for Taproot addresses; use BIP-322"),
    };
    if !is_for_this_kind {
        return Err("it is a BIP-137 signature for another kind of address");
    }
    let inner = recover(digest, scalars, candidate)?;
    let key = PublicKey { compressed: signer != Signer::UncompressedKey, inner };
    // Scripts contain the same hashes as addresses, so they can be compared for every kind.
    let is_holders = match key.wpubkey_hash() {
        Ok(hash) if signer == Signer::SegwitKey => ScriptBuf::new_p2wpkh(&hash),
        Ok(hash) if signer == Signer::SegwitKeyInScript => ScriptBuf::new_p2wpkh(&hash).to_p2sh(),
        Ok(_) | Err(_) => ScriptBuf::new_p2pkh(&key.pubkey_hash()),
    };
    if !bool::from(is_holders.as_bytes().ct_eq(holder.script_pubkey().as_bytes())) {
        return Err("it was made by another key or for another text");
    }
    Ok(())
}

fn recover(
    digest: [u8; 32],
    scalars: &[u8],
    candidate: u8,
) -> Result<bitcoin::secp256k1::PublicKey, &'static str> {
    let signature = RecoveryId::from_i32(i32::from(candidate))
        .and_then(|candidate| RecoverableSignature::from_compact(scalars, candidate))
        .map_err(|_| "r or s is not below the order of the group")?;
    let plain = signature.to_standard();
    let mut low = plain;
    low.normalize_s();
    if low != plain {
        return Err("s is in the upper half of the order");
    }
    Secp256k1::verification_only()
        .recover_ecdsa(&Message::from_digest(digest), &signature)
        .map_err(|_| "no key could have made it")
}
