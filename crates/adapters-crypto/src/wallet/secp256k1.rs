//! Shared by the families with keys on secp256k1: the one accepted form of a signature, and the keys that may
//! have made it. Also the prefixed text and the twenty bytes of a key, for the families that hash with
//! Keccak-256.

use std::sync::LazyLock;

use bitcoin::secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use bitcoin::secp256k1::{Message, Secp256k1, VerifyOnly};
use k256::ecdsa::{Signature, VerifyingKey};
use k256::elliptic_curve::scalar::IsHigh;
use sha3::{Digest, Keccak256};

/// For recovery, libsecp256k1 takes a third of the time that k256 takes (ADR 0022).
static RECOVERY: LazyLock<Secp256k1<VerifyOnly>> = LazyLock::new(Secp256k1::verification_only);

/// The two scalars of 32 bytes.
pub(super) const SCALARS_LENGTH: usize = 64;

/// The two scalars and the recovery byte.
pub(super) const RECOVERABLE_LENGTH: usize = SCALARS_LENGTH + 1;

/// How many bytes of a key's hash are its address.
pub(super) const ADDRESS_LENGTH: usize = 20;

/// Hashes a text after its prefix. The length between them counts bytes, not characters (B-026).
pub(super) fn keccak_of_prefixed(prefix: &str, message: &[u8]) -> [u8; 32] {
    let mut hash = Keccak256::new();
    hash.update(prefix.as_bytes());
    hash.update(message.len().to_string().as_bytes());
    hash.update(message);
    hash.finalize().into()
}

/// The last twenty bytes of the hash of a key's coordinates.
pub(super) fn keccak_of_key(key: &VerifyingKey) -> [u8; ADDRESS_LENGTH] {
    let point = key.to_sec1_point(false);
    let hash = Keccak256::digest(&point.as_bytes()[1..]);
    let mut bytes = [0; ADDRESS_LENGTH];
    bytes.copy_from_slice(&hash[hash.len() - ADDRESS_LENGTH..]);
    bytes
}

/// Finds the key that made a signature whose last byte distinguishes the two candidates.
///
/// A recovery byte contains no chain id; that is only for transactions (B-021).
pub(super) fn recover(digest: &[u8; 32], signature: &[u8]) -> Result<VerifyingKey, &'static str> {
    let Some((recovery, scalars)) = signature.split_last() else {
        return Err("it is empty");
    };
    let y_is_odd = match recovery {
        0 | 27 => false,
        1 | 28 => true,
        _ => return Err("its recovery byte is not 0, 1, 27 or 28"),
    };
    candidate(digest, &with_low_s(scalars)?, y_is_odd).ok_or("no key could have made it")
}

/// Finds the keys, at most two, that may have made a signature without a recovery byte.
pub(super) fn candidates(
    digest: &[u8; 32],
    scalars: &[u8],
) -> Result<[Option<VerifyingKey>; 2], &'static str> {
    let scalars = with_low_s(scalars)?;
    match [false, true].map(|y_is_odd| candidate(digest, &scalars, y_is_odd)) {
        [None, None] => Err("no key could have made it"),
        keys => Ok(keys),
    }
}

/// Reads the scalars. Only one form is accepted: `s` in the lower half of the order, so that one signature
/// cannot be turned into a second one (B-022).
fn with_low_s(scalars: &[u8]) -> Result<Signature, &'static str> {
    let Ok(scalars) = Signature::from_slice(scalars) else {
        return Err("r or s is zero, or not below the order of the group");
    };
    if scalars.s().is_high().into() {
        return Err("s is in the upper half of the order");
    }
    Ok(scalars)
}

/// An `r` that was reduced modulo the order is not tried: it cannot be produced.
fn candidate(digest: &[u8; 32], scalars: &Signature, y_is_odd: bool) -> Option<VerifyingKey> {
    let id = RecoveryId::from_i32(y_is_odd.into()).ok()?;
    let signature = RecoverableSignature::from_compact(&scalars.to_bytes(), id).ok()?;
    let key = RECOVERY.recover_ecdsa(&Message::from_digest(*digest), &signature).ok()?;
    VerifyingKey::from_sec1_bytes(&key.serialize_uncompressed()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use sha2::Sha256;

    use super::*;

    /// Scalars alone, as Cosmos uses them. What is valid there gives the key here if s is low, and is refused
    /// if s is high.
    #[test]
    fn b_028_wycheproof_secp256k1_of_bare_scalars_gives_the_key_with_low_s_only() {
        let file =
            include_str!("../../../../tests/vectors/wycheproof/ecdsa_secp256k1_sha256_p1363_test.json");
        let document: Value = serde_json::from_str(file).unwrap();
        let bytes = |value: &Value| hex::decode(value.as_str().unwrap()).unwrap();
        let (mut all, mut found, mut high) = (0, 0, 0);
        for group in document["testGroups"].as_array().unwrap() {
            let key = VerifyingKey::from_sec1_bytes(&bytes(&group["publicKey"]["uncompressed"])).unwrap();
            for test in group["tests"].as_array().unwrap() {
                all += 1;
                let valid = test["result"] == "valid";
                let (message, scalars) = (bytes(&test["msg"]), bytes(&test["sig"]));
                let keys = candidates(&Sha256::digest(&message).into(), &scalars);
                let is_found = keys.as_ref().is_ok_and(|keys| keys.contains(&Some(key)));
                assert!(valid || !is_found, "{test}");
                found += usize::from(is_found);
                if valid && !is_found {
                    assert_eq!(keys, Err("s is in the upper half of the order"), "{test}");
                    high += 1;
                }
            }
        }
        assert_eq!(all, document["numberOfTests"].as_u64().unwrap());
        println!("wycheproof secp256k1 p1363: {all} cases ran, {found} found, {high} with high s");
        assert!(found > 0 && high > 0);
    }
}
