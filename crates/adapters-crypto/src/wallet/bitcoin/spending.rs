//! Checks that the holder of the address signed the one input of a BIP-322 transaction.
//!
//! There is no script interpreter here. Only cases in which one key decides are supported: P2PKH, P2WPKH,
//! P2WPKH inside P2SH, P2WSH around `<key> OP_CHECKSIG`, and the key path of P2TR. Everything else, such as
//! multisig and time locks, is inconclusive in the BIP's terms and signs no one in (B-037).

use bitcoin::hashes::Hash;
use bitcoin::opcodes::all::{OP_CHECKSIG, OP_PUSHBYTES_33};
use bitcoin::script::{Builder, Instruction, PushBytes, Script};
use bitcoin::secp256k1::{Message, Secp256k1, XOnlyPublicKey, ecdsa, schnorr};
use bitcoin::sighash::{Prevouts, SighashCache};
use bitcoin::{
    Amount, CompressedPublicKey, EcdsaSighashType, PublicKey, ScriptBuf, TapSighashType, Transaction, TxIn,
    TxOut, Witness,
};
use subtle::ConstantTimeEq;

use super::address::Holder;

const INCONCLUSIVE: &str = "inconclusive: the address depends on more than one key, or on a condition";
const NOT_THE_KEY: &str = "it was made by another key";
const NOT_VALID: &str = "it was made by another key or for another text";
const PART_ONLY: &str = "its sighash type does not cover the whole transaction";
const WRONG_SHAPE: &str = "its witness or input script does not have the items that the address requires";

/// The length of a key in segwit, where keys are always compressed.
const COMPRESSED_LENGTH: usize = 33;

/// Checks the first input of a transaction whose fields were already checked.
pub(super) fn judge(holder: &Holder, transaction: &Transaction) -> Result<(), &'static str> {
    let Some(input) = transaction.input.first() else {
        return Err(WRONG_SHAPE);
    };
    let script_pubkey = holder.script_pubkey();
    match holder {
        Holder::Key(_) => key(transaction, input, &script_pubkey),
        Holder::Script(_) => segwit_key_in_script(transaction, input, &script_pubkey),
        // Native segwit forbids an input script.
        Holder::SegwitKey(_) | Holder::SegwitScript(_) | Holder::Taproot(_)
            if !input.script_sig.is_empty() =>
        {
            Err(WRONG_SHAPE)
        }
        Holder::SegwitKey(_) => segwit_key(transaction, &input.witness, &script_pubkey),
        Holder::SegwitScript(_) => segwit_script(transaction, &input.witness, &script_pubkey),
        Holder::Taproot(output_key) => taproot(transaction, &input.witness, output_key, script_pubkey),
    }
}

fn key(transaction: &Transaction, input: &TxIn, script_pubkey: &Script) -> Result<(), &'static str> {
    let [signature, key] = pushes(&input.script_sig).ok_or(WRONG_SHAPE)?;
    if !input.witness.is_empty() {
        return Err(WRONG_SHAPE);
    }
    let key = PublicKey::from_slice(key).map_err(|_| WRONG_SHAPE)?;
    same(&ScriptBuf::new_p2pkh(&key.pubkey_hash()), script_pubkey)?;
    let all = EcdsaSighashType::All.to_u32();
    let digest = SighashCache::new(transaction)
        .legacy_signature_hash(0, script_pubkey, all)
        .map_err(|_| WRONG_SHAPE)?;
    ecdsa_is_valid(signature, &key, digest.to_byte_array())
}

fn segwit_key_in_script(
    transaction: &Transaction,
    input: &TxIn,
    script_pubkey: &Script,
) -> Result<(), &'static str> {
    let [.., redeem_script] = pushes_of_any_number(&input.script_sig).ok_or(WRONG_SHAPE)?[..] else {
        return Err(WRONG_SHAPE);
    };
    let redeem_script = Script::from_bytes(redeem_script);
    same(&redeem_script.to_p2sh(), script_pubkey)?;
    if !redeem_script.is_p2wpkh() {
        return Err(INCONCLUSIVE);
    }
    // Nothing may stand beside the redeem script.
    let [_] = pushes(&input.script_sig).ok_or(WRONG_SHAPE)?;
    segwit_key(transaction, &input.witness, redeem_script)
}

/// The input script of P2WPKH inside P2SH for the key in the witness.
pub(super) fn script_sig_of_key_in_script(witness: &Witness) -> Result<ScriptBuf, &'static str> {
    let [_, key] = items(witness).ok_or(WRONG_SHAPE)?;
    let program = ScriptBuf::new_p2wpkh(&compressed(key)?.wpubkey_hash());
    let push = <&PushBytes>::try_from(program.as_bytes()).map_err(|_| WRONG_SHAPE)?;
    Ok(Builder::new().push_slice(push).into_script())
}

fn segwit_key(transaction: &Transaction, witness: &Witness, program: &Script) -> Result<(), &'static str> {
    let [signature, key] = items(witness).ok_or(WRONG_SHAPE)?;
    let key = compressed(key)?;
    same(&ScriptBuf::new_p2wpkh(&key.wpubkey_hash()), program)?;
    let digest = SighashCache::new(transaction)
        .p2wpkh_signature_hash(0, program, Amount::ZERO, EcdsaSighashType::All)
        .map_err(|_| WRONG_SHAPE)?;
    ecdsa_is_valid(signature, &key.into(), digest.to_byte_array())
}

fn segwit_script(
    transaction: &Transaction,
    witness: &Witness,
    script_pubkey: &Script,
) -> Result<(), &'static str> {
    let script = Script::from_bytes(witness.last().ok_or(WRONG_SHAPE)?);
    same(&script.to_p2wsh(), script_pubkey)?;
    let [push, key @ .., check] = script.as_bytes() else {
        return Err(INCONCLUSIVE);
    };
    if *push != OP_PUSHBYTES_33.to_u8() || key.len() != COMPRESSED_LENGTH || *check != OP_CHECKSIG.to_u8() {
        return Err(INCONCLUSIVE);
    }
    let key = compressed(key)?;
    let [signature, _] = items(witness).ok_or(WRONG_SHAPE)?;
    let digest = SighashCache::new(transaction)
        .p2wsh_signature_hash(0, script, Amount::ZERO, EcdsaSighashType::All)
        .map_err(|_| WRONG_SHAPE)?;
    ecdsa_is_valid(signature, &key.into(), digest.to_byte_array())
}

fn taproot(
    transaction: &Transaction,
    witness: &Witness,
    output_key: &[u8; 32],
    script_pubkey: ScriptBuf,
) -> Result<(), &'static str> {
    // With more items, it spends by a script or has an annex.
    if witness.len() > 1 {
        return Err(INCONCLUSIVE);
    }
    let [item] = items(witness).ok_or(WRONG_SHAPE)?;
    // A signature without a type byte has the default type. BIP-341 forbids a type byte of zero.
    let (signature, sighash_type) = match item.split_at_checked(schnorr_length()) {
        Some((signature, [])) => (signature, TapSighashType::Default),
        Some((signature, [1])) => (signature, TapSighashType::All),
        Some((_, [sighash_type])) if *sighash_type != 0 => return Err(PART_ONLY),
        Some(_) | None => return Err(WRONG_SHAPE),
    };
    let spent = TxOut { value: Amount::ZERO, script_pubkey };
    let digest = SighashCache::new(transaction)
        .taproot_key_spend_signature_hash(0, &Prevouts::All(&[spent]), sighash_type)
        .map_err(|_| WRONG_SHAPE)?;
    if schnorr_is_valid(signature, output_key, digest.to_byte_array()) { Ok(()) } else { Err(NOT_VALID) }
}

const fn schnorr_length() -> usize {
    bitcoin::secp256k1::constants::SCHNORR_SIGNATURE_SIZE
}

/// Verifies a BIP-340 signature over the digest of a transaction.
pub(super) fn schnorr_is_valid(signature: &[u8], key: &[u8], digest: [u8; 32]) -> bool {
    let (Ok(signature), Ok(key)) =
        (schnorr::Signature::from_slice(signature), XOnlyPublicKey::from_slice(key))
    else {
        return false;
    };
    Secp256k1::verification_only().verify_schnorr(&signature, &Message::from_digest(digest), &key).is_ok()
}

/// Verifies an ECDSA signature that is followed by its type: strict DER, low s, and covering the whole
/// transaction.
pub(super) fn ecdsa_is_valid(item: &[u8], key: &PublicKey, digest: [u8; 32]) -> Result<(), &'static str> {
    let Some((sighash_type, der)) = item.split_last() else {
        return Err("it is empty");
    };
    if u32::from(*sighash_type) != EcdsaSighashType::All.to_u32() {
        return Err(PART_ONLY);
    }
    let signature = strict_der(der).ok_or("its scalars are not in strict DER")?;
    let mut low = signature;
    low.normalize_s();
    if low != signature {
        return Err("s is in the upper half of the order");
    }
    Secp256k1::verification_only()
        .verify_ecdsa(&Message::from_digest(digest), &signature, &key.inner)
        .map_err(|_| NOT_VALID)
}

/// Decodes DER in its only accepted form.
pub(super) fn strict_der(der: &[u8]) -> Option<ecdsa::Signature> {
    let signature = ecdsa::Signature::from_der(der).ok()?;
    (signature.serialize_der()[..] == *der).then_some(signature)
}

fn compressed(key: &[u8]) -> Result<CompressedPublicKey, &'static str> {
    if key.len() != COMPRESSED_LENGTH {
        return Err("its key is not compressed, as segwit requires");
    }
    CompressedPublicKey::from_slice(key).map_err(|_| "its key is not a point on the curve")
}

/// Compares in constant time.
fn same(found: &Script, claimed: &Script) -> Result<(), &'static str> {
    if bool::from(found.as_bytes().ct_eq(claimed.as_bytes())) { Ok(()) } else { Err(NOT_THE_KEY) }
}

/// The items of a witness, if there are exactly this many.
fn items<const N: usize>(witness: &Witness) -> Option<[&[u8]; N]> {
    witness.iter().collect::<Vec<_>>().try_into().ok()
}

/// The values that a script pushes, if there are exactly this many.
fn pushes<const N: usize>(script: &Script) -> Option<[&[u8]; N]> {
    pushes_of_any_number(script)?.try_into().ok()
}

/// The values that a script pushes, if it does nothing else and pushes them in the shortest way.
fn pushes_of_any_number(script: &Script) -> Option<Vec<&[u8]>> {
    let push = |instruction| match instruction {
        Ok(Instruction::PushBytes(bytes)) => Some(bytes.as_bytes()),
        Ok(Instruction::Op(_)) | Err(_) => None,
    };
    script.instructions_minimal().map(push).collect()
}
