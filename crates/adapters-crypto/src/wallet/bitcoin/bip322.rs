//! Signed messages by BIP-322, version 2.0.0: a virtual transaction that spends from the address, and never can be sent.
//!
//! Here is what makes a signature one of this text; `spending` judges whether it is the holder's.

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

/// How long the base64 may be (B-039). The longest that a single key needs has under 600 characters.
const TEXT_LIMIT: usize = 8 * 1024;

/// Judges the simple form: the witness alone, everything else as the BIP fixes it.
///
/// Version 2.0.0 of the BIP keeps this form for native segwit. Version 1 had it for keys inside P2SH too, and wallets go on
/// making it, so it is taken: the one input script that can stand with such a witness follows from the witness's key.
pub(super) fn judge_simple(holder: &Holder, message: &str, text: &str) -> Result<(), &'static str> {
    let bytes = decode(text)?;
    let witness: Witness = deserialize(&bytes).map_err(|_| "it is no witness in BIP-322's simple form")?;
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

/// Judges the full form: a whole transaction.
///
/// Its lock time and sequence are free: the BIP calls such a signature "valid at time T and age S" and checks neither. They
/// would bind only scripts with time locks, which `spending` does not understand and refuses; where one key decides
/// without conditions, a lock proves neither more nor less about who holds the key.
pub(super) fn judge_full(holder: &Holder, message: &str, text: &str) -> Result<(), &'static str> {
    let transaction: Transaction =
        deserialize(&decode(text)?).map_err(|_| "it is no transaction in BIP-322's full form")?;
    if ![0, 2].contains(&transaction.version.0) {
        return Err("its transaction's version is neither 0 nor 2");
    }
    let ([input], [output]) = (transaction.input.as_slice(), transaction.output.as_slice()) else {
        return Err("its transaction has not exactly one input and one output");
    };
    let to_spend = to_spend(holder.script_pubkey(), message);
    if input.previous_output != OutPoint::new(to_spend.compute_txid(), 0) {
        return Err("it is for another address, or of another text");
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

/// The transaction that a simple signature stands for.
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

/// The tagged hash of a message (BIP-340 says how tags are hashed).
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

/// Decodes base64 in its one form: the usual alphabet, padded, without stray bits.
fn decode(text: &str) -> Result<Vec<u8>, &'static str> {
    if text.len() > TEXT_LIMIT {
        return Err("it is longer than any BIP-322 signature of a single key");
    }
    STANDARD.decode(text).map_err(|_| "it is neither 65 bytes (BIP-137) nor base64 (BIP-322)")
}
