//! The rules of BIP-322, each broken in turn by someone who has the key.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bitcoin::absolute::LockTime;
use bitcoin::opcodes::all::{OP_CHECKMULTISIG, OP_CHECKSIG, OP_CHECKSIGVERIFY, OP_PUSHDATA1, OP_RETURN};
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::secp256k1::ecdsa;
use bitcoin::transaction::Version;
use bitcoin::{Amount, OutPoint, Script, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Witness};

use super::address::Holder;
use super::signing::{KINDS, Kind, address_of, full, judged, simple, usual_type, wallet};
use super::spending::strict_der;
use super::{Coin, bip322};

const TEXT: &str = "auth.example wants you to sign in with your Bitcoin account";

const INCONCLUSIVE: Result<(), &str> =
    Err("inconclusive: the address depends on more than one key, or on a condition");
const WRONG_SHAPE: Result<(), &str> =
    Err("its witness or input script does not have the items that the address requires");
const PART_ONLY: Result<(), &str> = Err("its sighash type does not cover the whole transaction");

const SEGWIT: [Kind; 3] = [Kind::Segwit, Kind::SegwitScript, Kind::Taproot];
const ECDSA: [Kind; 5] =
    [Kind::Uncompressed, Kind::Compressed, Kind::Nested, Kind::Segwit, Kind::SegwitScript];

fn judge(kind: Kind, signature: &str) -> Result<(), &'static str> {
    let coin = Coin::bitcoin();
    judged(&coin, &wallet().address(kind, &coin), TEXT, signature)
}

/// Signs a transaction after a change.
fn changed(kind: Kind, change: impl FnOnce(&mut Transaction)) -> Result<(), &'static str> {
    judge(kind, &full(&wallet().signed(kind, TEXT, usual_type(kind), change)))
}

/// Changes the input of a transaction after it was signed.
fn meddled(kind: Kind, change: impl FnOnce(&mut TxIn)) -> Result<(), &'static str> {
    let mut transaction = wallet().signed(kind, TEXT, usual_type(kind), |_| {});
    change(&mut transaction.input[0]);
    judge(kind, &full(&transaction))
}

/// Changes the items of a witness after it was made, in either form.
fn meddled_items(kind: Kind, change: impl Fn(&mut Vec<Vec<u8>>)) -> Result<(), &'static str> {
    let change = |witness: &mut Witness| {
        let mut items = witness.to_vec();
        change(&mut items);
        *witness = Witness::from_slice(&items);
    };
    let in_full = meddled(kind, |input| change(&mut input.witness));
    if SEGWIT.contains(&kind) {
        let mut witness = wallet().witness(kind, TEXT);
        change(&mut witness);
        assert_eq!(judge(kind, &simple(&witness)), in_full, "{kind:?}");
    }
    in_full
}

/// Replaces the first push of an input script, which is the signature of P2PKH.
fn with_first_push(script: &Script, change: impl FnOnce(&[u8]) -> Vec<u8>) -> ScriptBuf {
    let bytes = script.as_bytes();
    let (length, rest) = bytes.split_first().unwrap();
    let (push, rest) = rest.split_at(usize::from(*length));
    let push = change(push);
    [&[u8::try_from(push.len()).unwrap()], push.as_slice(), rest].concat().into()
}

#[test]
fn b_037_what_one_key_decides_is_valid_in_the_full_form() {
    for kind in KINDS {
        assert_eq!(changed(kind, |_| {}), Ok(()), "{kind:?}");
    }
}

#[test]
fn b_037_segwit_addresses_sign_in_the_simple_form_with_the_prefix_or_without() {
    for kind in SEGWIT.into_iter().chain([Kind::Nested]) {
        let signature = simple(&wallet().witness(kind, TEXT));
        assert_eq!(judge(kind, &signature), Ok(()), "{kind:?}");
        assert_eq!(judge(kind, &signature[3..]), Ok(()), "{kind:?}");
    }
}

#[test]
fn b_037_other_addresses_have_no_simple_form() {
    let expected = Err("it is not 65 bytes (BIP-137), and BIP-322's simple form is for segwit only");
    for kind in [Kind::Uncompressed, Kind::Compressed] {
        assert_eq!(judge(kind, &simple(&wallet().witness(Kind::Segwit, TEXT))), expected, "{kind:?}");
    }
}

#[test]
fn b_037_the_simple_form_of_a_key_in_a_script_and_of_the_bare_key_do_not_stand_for_each_other() {
    for (signed, judged) in [(Kind::Segwit, Kind::Nested), (Kind::Nested, Kind::Segwit)] {
        let signature = simple(&wallet().witness(signed, TEXT));
        assert_eq!(
            judge(judged, &signature),
            Err("it was made by another key or for another text"),
            "{signed:?}"
        );
    }
    let shape = Err("its witness or input script does not have the items that the address requires");
    for kind in [Kind::Taproot, Kind::Compressed] {
        assert_eq!(judge(Kind::Nested, &simple(&wallet().witness(kind, TEXT))), shape, "{kind:?}");
    }
}

#[test]
fn b_038_a_proof_of_funds_is_refused_and_prefixes_are_exact() {
    let proof = Err("it is a proof of funds; BIP-322's simple or full form is enough");
    let signature = simple(&wallet().witness(Kind::Segwit, TEXT));
    assert_eq!(judge(Kind::Segwit, &signature.replacen("smp", "pof", 1)), proof);
    for prefix in ["SMP", "sm", "smpsmp", "sim", "full", "smp:", "smp "] {
        assert!(judge(Kind::Segwit, &signature.replacen("smp", prefix, 1)).is_err(), "{prefix}");
    }
    let no_transaction = Err("it is not a transaction in BIP-322's full form");
    assert_eq!(judge(Kind::Segwit, &signature.replacen("smp", "ful", 1)), no_transaction);
}

#[test]
fn b_037_lock_times_bind_nothing_that_a_key_decides() {
    for kind in KINDS {
        for (version, lock_time, sequence) in [(2, 2016, 2016), (0, u32::MAX, u32::MAX), (2, 0, 0)] {
            let verdict = changed(kind, |transaction| {
                transaction.version = Version(version);
                transaction.lock_time = LockTime::from_consensus(lock_time);
                transaction.input[0].sequence = Sequence(sequence);
            });
            assert_eq!(verdict, Ok(()), "{kind:?}");
        }
        let after_signing = meddled(kind, |input| input.sequence = Sequence(1));
        assert_eq!(after_signing, Err("it was made by another key or for another text"), "{kind:?}");
    }
}

#[test]
fn b_037_every_field_of_the_transaction_is_as_the_bip_says() {
    let version = Err("its transaction's version is neither 0 nor 2");
    let count = Err("its transaction does not have exactly one input and one output");
    let another = Err("it is for another address or another text");
    let output = Err("its transaction's output is not the empty one of BIP-322");
    for kind in KINDS {
        for number in [1, 3, -1, i32::MIN] {
            assert_eq!(changed(kind, |transaction| transaction.version = Version(number)), version);
        }
        assert_eq!(changed(kind, |transaction| transaction.input.push(transaction.input[0].clone())), count);
        assert_eq!(
            changed(kind, |transaction| transaction.output.push(transaction.output[0].clone())),
            count
        );
        assert_eq!(changed(kind, |transaction| transaction.output.clear()), count);
        let index = |transaction: &mut Transaction| transaction.input[0].previous_output.vout = 1;
        assert_eq!(changed(kind, index), another);
        let other = |transaction: &mut Transaction| transaction.input[0].previous_output = OutPoint::null();
        assert_eq!(changed(kind, other), another);
        assert_eq!(changed(kind, |transaction| transaction.output[0].value = Amount::from_sat(1)), output);
        let scripts = [
            Builder::new(),
            Builder::new().push_opcode(OP_RETURN).push_opcode(OP_RETURN),
            Builder::new().push_opcode(OP_RETURN).push_slice([]),
        ];
        for script_pubkey in scripts.map(Builder::into_script) {
            let verdict = changed(kind, |transaction| {
                transaction.output[0] = TxOut { value: Amount::ZERO, script_pubkey };
            });
            assert_eq!(verdict, output);
        }
    }
}

#[test]
fn b_037_the_whole_transaction_is_signed() {
    for kind in ECDSA {
        for sighash_type in [0, 2, 3, 0x81, 0x82, 0x83, 0xff] {
            let signed = wallet().signed(kind, TEXT, sighash_type, |_| {});
            assert_eq!(judge(kind, &full(&signed)), PART_ONLY, "{kind:?} {sighash_type}");
        }
    }
    let taproot = |sighash_type| {
        let signed = wallet().signed(Kind::Taproot, TEXT, sighash_type, |_| {});
        judge(Kind::Taproot, &simple(&signed.input[0].witness))
    };
    assert_eq!((taproot(0), taproot(1)), (Ok(()), Ok(())));
    for sighash_type in [2, 3, 0x81, 0x82, 0x83] {
        assert_eq!(taproot(sighash_type), PART_ONLY, "{sighash_type}");
    }
    // BIP-341: the default type has only one form, without a byte.
    assert_eq!(meddled_items(Kind::Taproot, |items| items[0].push(0)), WRONG_SHAPE);
}

#[test]
fn b_037_a_witness_has_the_items_that_the_address_asks_for() {
    for kind in [Kind::Nested, Kind::Segwit, Kind::SegwitScript] {
        assert_eq!(meddled_items(kind, |items| items.insert(0, vec![])), WRONG_SHAPE, "{kind:?}");
        assert_eq!(meddled_items(kind, |items| drop(items.remove(0))), WRONG_SHAPE, "{kind:?}");
        assert_eq!(meddled_items(kind, Vec::clear), WRONG_SHAPE, "{kind:?}");
        assert_eq!(meddled_items(kind, |items| items[0].clear()), Err("it is empty"), "{kind:?}");
    }
    assert_eq!(meddled_items(Kind::Segwit, |items| items.push(vec![1])), WRONG_SHAPE);
    assert_eq!(meddled_items(Kind::Taproot, Vec::clear), WRONG_SHAPE);
    assert_eq!(meddled_items(Kind::Taproot, |items| items[0].truncate(63)), WRONG_SHAPE);
    // An annex, which BIP-341 allows but does not define yet.
    assert_eq!(meddled_items(Kind::Taproot, |items| items.push(vec![0x50])), INCONCLUSIVE);
}

#[test]
fn b_037_a_segwit_key_is_compressed_and_the_holders() {
    let uncompressed = wallet().compressed().0.serialize_uncompressed();
    for kind in [Kind::Nested, Kind::Segwit] {
        let verdict = meddled_items(kind, |items| items[1] = uncompressed.to_vec());
        assert_eq!(verdict, Err("its key is not compressed, as segwit requires"), "{kind:?}");
        assert_eq!(
            meddled_items(kind, |items| items[1][0] ^= 1),
            Err("it was made by another key"),
            "{kind:?}"
        );
        let verdict = meddled_items(kind, |items| items[1][1..].fill(0xff));
        assert_eq!(verdict, Err("its key is not a point on the curve"), "{kind:?}");
    }
    // A hybrid key begins with 6 or 7 and encodes the same point.
    let verdict = meddled(Kind::Uncompressed, |input| {
        let mut script = input.script_sig.to_bytes();
        let position = script.len() - 65;
        script[position] = 6 | (script[script.len() - 1] & 1);
        input.script_sig = script.into();
    });
    assert_eq!(verdict, WRONG_SHAPE);
}

/// The signature in an item, with its other s.
fn with_high_s(item: &[u8]) -> Vec<u8> {
    let compact = strict_der(&item[..item.len() - 1]).unwrap().serialize_compact();
    let s = bitcoin::secp256k1::SecretKey::from_slice(&compact[32..]).unwrap().negate();
    let high = ecdsa::Signature::from_compact(&[&compact[..32], &s[..]].concat()).unwrap();
    [&high.serialize_der()[..], &[1]].concat()
}

/// The same numbers with a zero before r.
fn with_padded_r(item: &[u8]) -> Vec<u8> {
    let mut padded = item.to_vec();
    padded[1] += 1;
    padded[3] += 1;
    padded.insert(4, 0);
    padded
}

#[test]
fn b_037_ecdsa_signatures_have_one_form() {
    let high_s = Err("s is in the upper half of the order");
    let not_der = Err("its scalars are not in strict DER");
    let with_byte_more = |item: &[u8]| [&item[..item.len() - 1], &[0, 1]].concat();
    for kind in [Kind::Nested, Kind::Segwit, Kind::SegwitScript] {
        assert_eq!(meddled_items(kind, |items| items[0] = with_high_s(&items[0])), high_s, "{kind:?}");
        assert_eq!(meddled_items(kind, |items| items[0] = with_padded_r(&items[0])), not_der, "{kind:?}");
        assert_eq!(meddled_items(kind, |items| items[0] = with_byte_more(&items[0])), not_der, "{kind:?}");
    }
    for kind in [Kind::Uncompressed, Kind::Compressed] {
        let with = |change: &dyn Fn(&[u8]) -> Vec<u8>| {
            meddled(kind, |input| input.script_sig = with_first_push(&input.script_sig, change))
        };
        assert_eq!(with(&with_high_s), high_s, "{kind:?}");
        assert_eq!(with(&with_padded_r), not_der, "{kind:?}");
        assert_eq!(with(&with_byte_more), not_der, "{kind:?}");
    }
}

#[test]
fn b_037_input_scripts_push_what_is_needed_in_the_shortest_way() {
    let prefixed = |script: &ScriptBuf, bytes: &[u8]| [bytes, script.as_bytes()].concat().into();
    for kind in KINDS {
        let long_push =
            |input: &mut TxIn| input.script_sig = prefixed(&input.script_sig, &[OP_PUSHDATA1.to_u8()]);
        assert_eq!(meddled(kind, long_push), WRONG_SHAPE, "{kind:?}");
        for extra in [0x00, 0x51, 0x61] {
            let verdict = meddled(kind, |input| input.script_sig = prefixed(&input.script_sig, &[extra]));
            assert_eq!(verdict, WRONG_SHAPE, "{kind:?} {extra:#x}");
        }
    }
    for kind in [Kind::Uncompressed, Kind::Compressed, Kind::Nested] {
        assert_eq!(meddled(kind, |input| input.script_sig = ScriptBuf::new()), WRONG_SHAPE, "{kind:?}");
    }
    for kind in [Kind::Uncompressed, Kind::Compressed] {
        let verdict = meddled(kind, |input| input.witness = Witness::from_slice(&[[1]]));
        assert_eq!(verdict, WRONG_SHAPE, "{kind:?}");
    }
}

#[test]
fn b_037_scripts_that_are_not_one_key_are_inconclusive() {
    let key = wallet().compressed().to_bytes();
    let scripts = [
        Builder::new().push_int(1).push_slice(key).push_int(1).push_opcode(OP_CHECKMULTISIG),
        Builder::new().push_slice(key).push_opcode(OP_CHECKSIGVERIFY).push_int(1),
        Builder::new().push_slice(key).push_opcode(OP_CHECKSIG).push_opcode(OP_CHECKSIG),
        Builder::new().push_opcode(OP_CHECKSIG),
        Builder::new().push_int(1),
        Builder::new(),
    ];
    let coin = Coin::bitcoin();
    let signature = wallet().witness(Kind::Segwit, TEXT).to_vec().remove(0);
    for script in scripts.map(Builder::into_script) {
        let witness = Witness::from_slice(&[&signature, script.as_bytes()]);
        let native = address_of(&Holder::SegwitScript(script.wscript_hash()), &coin);
        assert_eq!(judged(&coin, &native, TEXT, &simple(&witness)), INCONCLUSIVE, "{script}");
        let holder = Holder::Script(script.script_hash());
        let spent = bip322::to_spend(holder.script_pubkey(), TEXT).compute_txid();
        let mut transaction = bip322::to_sign(spent, ScriptBuf::new(), Witness::new());
        let push = PushBytesBuf::try_from(script.to_bytes()).unwrap();
        transaction.input[0].script_sig = Builder::new().push_slice(push).into_script();
        let verdict = judged(&coin, &address_of(&holder, &coin), TEXT, &full(&transaction));
        assert_eq!(verdict, INCONCLUSIVE, "{script}");
    }
}

#[test]
fn b_039_long_texts_are_refused_before_they_are_decoded() {
    let too_long = Err("it is longer than any BIP-322 signature of a single key");
    let good = simple(&wallet().witness(Kind::Taproot, TEXT));
    let stretched = good + &"A".repeat(8 * 1024);
    assert_eq!(judge(Kind::Taproot, &stretched), too_long);
    assert_eq!(judge(Kind::Taproot, &"A".repeat(8 * 1024 + 1)), too_long);
    assert_eq!(judge(Kind::Taproot, &format!("ful{}", "A".repeat(1 << 20))), too_long);
    let no_witness = Err("it is not a witness in BIP-322's simple form");
    assert_eq!(judge(Kind::Taproot, &"A".repeat(8 * 1024)), no_witness);
}

#[test]
fn b_039_counts_and_lengths_that_promise_more_than_there_is_are_refused() {
    for promise in
        ["fe00093d00", "fdffff", "01fe00093d00", "01ffffffffffffffffff", "ffffffffffffffffff", "fd0100"]
    {
        let text = STANDARD.encode(hex::decode(promise).unwrap());
        let no_witness = Err("it is not a witness in BIP-322's simple form");
        assert_eq!(judge(Kind::Taproot, &format!("smp{text}")), no_witness, "{promise}");
        let text = STANDARD.encode(hex::decode(format!("00000000{promise}")).unwrap());
        let no_transaction = Err("it is not a transaction in BIP-322's full form");
        assert_eq!(judge(Kind::Taproot, &format!("ful{text}")), no_transaction, "{promise}");
    }
}

#[test]
fn coins_whose_wallets_do_not_sign_by_bip_322_are_refused_with_a_hint() {
    let coin = Coin::litecoin();
    let address = wallet().address(Kind::Segwit, &coin);
    let expected = Err("it is not 65 bytes in hex, base64 or base64url, as BIP-137 requires");
    for signature in [simple(&wallet().witness(Kind::Segwit, TEXT)), "pof".to_owned(), "ful".to_owned()] {
        assert_eq!(judged(&coin, &address, TEXT, &signature), expected);
    }
}
