//! Signed messages by BIP-322, version 2.0.0: a virtual transaction that spends from the address and can
//! never be sent.
//!
//! This module checks that a signature is for this text. `spending` checks that the holder made it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bitcoin::absolute::LockTime;
use bitcoin::consensus::deserialize;
use bitcoin::hashes::{Hash, HashEngine, sha256};
use bitcoin::opcodes::all::OP_RETURN;
use bitcoin::script::Builder;
use bitcoin::transaction::Version;
use bitcoin::{Amount, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Txid, Witness};

use super::address::Holder;
use super::spending;

/// The longest accepted base64 text (B-039). The longest that a single key needs has under 600 characters.
const TEXT_LIMIT: usize = 8 * 1024;

/// Verifies the simple form: only the witness, with everything else as the BIP fixes it.
///
/// Version 2.0.0 of the BIP limits this form to native segwit. Version 1 allowed it for keys inside P2SH too,
/// and wallets still make it, so it is accepted: the witness's key determines the only input script that can
/// go with such a witness.
pub(super) fn judge_simple(holder: &Holder, message: &str, text: &str) -> Result<(), &'static str> {
    let bytes = decode(text)?;
    let witness: Witness = deserialize(&bytes).map_err(|_| "it is not a witness in BIP-322's simple form")?;
    let script_sig = match holder {
        Holder::SegwitKey(_) | Holder::SegwitScript(_) | Holder::Taproot(_) => ScriptBuf::new(),
        Holder::Script(_) => spending::script_sig_of_key_in_script(&witness)?,
        Holder::Key(_) => {
            return Err("it is not 65 bytes (BIP-137), and BIP-322's simple form is for segwit only");
        }
    };
    let to_spend = to_spend(holder.script_pubkey(), message);
    let to_sign = to_sign(to_spend.compute_txid(), script_sig, witness);
    spending::judge(holder, &to_sign)
}

/// Verifies the full form: a whole transaction.
///
/// Its lock time and sequence are free. The BIP calls such a signature "valid at time T and age S" and checks
/// neither. They would bind only scripts with time locks, which `spending` does not understand and refuses.
/// Where one key decides without conditions, a lock proves nothing about who holds the key.
pub(super) fn judge_full(holder: &Holder, message: &str, text: &str) -> Result<(), &'static str> {
    let transaction: Transaction =
        deserialize(&decode(text)?).map_err(|_| "it is not a transaction in BIP-322's full form")?;
    if ![0, 2].contains(&transaction.version.0) {
        return Err("its transaction's version is neither 0 nor 2");
    }
    let ([input], [output]) = (transaction.input.as_slice(), transaction.output.as_slice()) else {
        return Err("its transaction does not have exactly one input and one output");
    };
    let to_spend = to_spend(holder.script_pubkey(), message);
    if input.previous_output != OutPoint::new(to_spend.compute_txid(), 0) {
        return Err("it is for another address or another text");
    }
    if *output != nothing() {
        return Err("its transaction's output is not the empty one of BIP-322");
    }
    spending::judge(holder, &transaction)
}

/// The transaction whose output commits to the address and the message.
pub(super) fn to_spend(script_pubkey: ScriptBuf, message: &str) -> Transaction {
    let script_sig = Builder::new().push_int(0).push_slice(message_hash(message)).into_script();
    let input = TxIn {
        previous_output: OutPoint::null(),
        script_sig,
        sequence: Sequence::ZERO,
        witness: Witness::new(),
    };
    let output = TxOut { value: Amount::ZERO, script_pubkey };
    Transaction { version: Version(0), lock_time: LockTime::ZERO, input: vec![input], output: vec![output] }
}

/// The transaction behind a simple signature.
pub(super) fn to_sign(to_spend: Txid, script_sig: ScriptBuf, witness: Witness) -> Transaction {
    let input =
        TxIn { previous_output: OutPoint::new(to_spend, 0), script_sig, sequence: Sequence::ZERO, witness };
    Transaction {
        version: Version(0),
        lock_time: LockTime::ZERO,
        input: vec![input],
        output: vec![nothing()],
    }
}

/// The tagged hash of a message (BIP-340 defines how tags are hashed).
pub(super) fn message_hash(message: &str) -> [u8; 32] {
    let tag = sha256::Hash::hash(b"BIP0322-signed-message");
    let mut engine = sha256::Hash::engine();
    engine.input(tag.as_byte_array());
    engine.input(tag.as_byte_array());
    engine.input(message.as_bytes());
    sha256::Hash::from_engine(engine).to_byte_array()
}

fn nothing() -> TxOut {
    TxOut { value: Amount::ZERO, script_pubkey: Builder::new().push_opcode(OP_RETURN).into_script() }
}

/// Decodes base64 in its only accepted form: the standard alphabet, padded, without stray bits.
fn decode(text: &str) -> Result<Vec<u8>, &'static str> {
    if text.len() > TEXT_LIMIT {
        return Err("it is longer than any BIP-322 signature of a single key");
    }
    STANDARD.decode(text).map_err(|_| "it is neither 65 bytes (BIP-137) nor base64 (BIP-322)")
}
