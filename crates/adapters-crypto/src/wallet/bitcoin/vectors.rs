//! The vectors in `tests/vectors` for Bitcoin and similar coins, case by case, through the router as the
//! server uses it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bitcoin::hashes::{Hash, sha256};
use bitcoin::{EcdsaSighashType, PublicKey, ScriptBuf, Witness};
use countersign_ports::{Verdict, WalletVerifier};
use serde_json::Value;

use super::address::{Address, Holder};
use super::signing::{Kind, Wallet};
use super::{Coin, Form, bip137, bip322, spending};
use crate::WalletRouter;
use crate::wallet::testing::{bytes, is_valid, ran, text, verdict};

fn document(file: &str) -> Value {
    serde_json::from_str(file).unwrap()
}

fn list<'a>(document: &'a Value, member: &str) -> &'a [Value] {
    let cases = document[member].as_array().unwrap_or_else(|| panic!("{member} is missing"));
    assert!(!cases.is_empty());
    cases
}

#[test]
fn b_035_headers_are_judged_as_the_strict_table_says() {
    let file = document(include_str!("../../../../../tests/vectors/bitcoin/bip137_header_matrix.json"));
    let cases = list(&file, "cases");
    let mut accepted = 0;
    for case in cases {
        let expected = match text(case, "strict_bip137") {
            "accept" | "accept: same program as the lower-case form, one user" => true,
            "reject" | "reject on mainnet" => false,
            other => panic!("unknown expectation {other}"),
        };
        let valid = is_valid(text(case, "address"), text(case, "message"), text(case, "signature"));
        assert_eq!(valid, expected, "{case}");
        accepted += usize::from(valid);
    }
    ran("bip137_header_matrix", cases.len());
    ran("bip137_header_matrix accepted", accepted);
}

#[test]
fn b_036_evrmores_messages_are_judged_as_its_node_judges_them() {
    let file = document(include_str!("../../../../../tests/vectors/bitcoin/evrmore_signed_message.json"));
    let cases = list(&file, "cases");
    for case in cases {
        let valid = is_valid(text(case, "address"), text(case, "message"), text(case, "signature"));
        assert_eq!(valid, text(case, "expect") == "accept", "{case}");
    }
    ran("evrmore_signed_message", cases.len());
}

#[test]
fn p_07_a_header_of_p2pkh_is_refused_for_a_segwit_address_of_the_same_key() {
    let file = document(include_str!("../../../../../tests/vectors/bitcoin/bip322js_p2pkh_sample.json"));
    let cases = list(&file, "cases");
    for case in cases {
        let expected = match text(case, "expect") {
            "accept" => true,
            "policy: same key, header 32 names P2PKH" => false,
            other => {
                assert!(other.starts_with("reject"), "unknown expectation {other}");
                false
            }
        };
        let valid = is_valid(text(case, "address"), text(case, "message"), text(case, "signature"));
        assert_eq!(valid, expected, "{case}");
    }
    ran("bip322js_p2pkh_sample", cases.len());
}

#[test]
fn a_library_of_many_years_gets_the_same_verdicts() {
    let file = document(include_str!("../../../../../tests/vectors/bitcoin/bitcoinjs_message_fixtures.json"));
    let cases = list(&file, "cases");
    let coin = |case| match text(case, "network") {
        "bitcoin" => Coin::bitcoin(),
        "dogecoin" => Coin::dogecoin(),
        other => panic!("unknown network {other}"),
    };
    for case in cases {
        match text(case, "kind") {
            "valid.signature" => {
                let encoded = bytes(text(case, "hex"));
                assert_eq!(encoded[1..], bytes(text(case, "signature")), "{case}");
                let first = if case["compressed"].as_bool().unwrap() { 31 } else { 27 };
                assert_eq!(u64::from(encoded[0]), first + case["recovery"].as_u64().unwrap(), "{case}");
                assert_eq!(Form::of(text(case, "hex")), Form::Compact(encoded), "{case}");
            }
            "valid.magicHash" => {
                let digest = bip137::digest(coin(case).magic(), text(case, "message"));
                assert_eq!(digest.to_vec(), bytes(text(case, "magicHash")), "{case}");
            }
            "valid.sign" => {
                let mut secret = [0; 32];
                secret[31] = text(case, "d").parse().unwrap();
                let wallet = Wallet::from_bytes(secret).unwrap();
                let ours = wallet.compact(Kind::Uncompressed, &coin(case), text(case, "message"));
                assert_eq!(STANDARD.encode(ours), text(case, "signature"), "{case}");
                let address = wallet.address(Kind::Uncompressed, &coin(case));
                assert!(is_valid(&address, text(case, "message"), text(case, "signature")), "{case}");
            }
            "valid.verify" => {
                let message = text(case, "message");
                let others = [&case["compressed"], &case["segwit"]["P2SH_P2WPKH"], &case["segwit"]["P2WPKH"]];
                for pair in others.into_iter().filter(|pair| !pair.is_null()).chain([case]) {
                    assert!(is_valid(text(pair, "address"), message, text(pair, "signature")), "{pair}");
                }
            }
            "invalid.signature" => {
                let encoded = bytes(text(case, "hex"));
                let address =
                    Wallet::from_bytes([1; 32]).unwrap().address(Kind::Compressed, &Coin::bitcoin());
                let reason = match text(case, "exception") {
                    "Invalid signature parameter" => "it has 65 bytes, but the first is not a BIP-137 header",
                    _ => "it is not a witness in BIP-322's simple form",
                };
                let expected = Verdict::Invalid(reason);
                assert_eq!(
                    verdict(&address, "vires is numeris", &STANDARD.encode(encoded)),
                    expected,
                    "{case}"
                );
            }
            "invalid.verify" => {
                let valid = is_valid(text(case, "address"), text(case, "message"), text(case, "signature"));
                assert!(!valid, "{case}");
            }
            other => panic!("unknown kind {other}"),
        }
    }
    ran("bitcoinjs_message_fixtures", cases.len());
}

#[test]
fn b_033_segwit_addresses_are_read_as_bip_350_says() {
    let file = document(include_str!("../../../../../tests/vectors/bitcoin/bip350_segwit_addresses.json"));
    let cases = list(&file, "cases");
    let network = |hrp| {
        let text = format!("name=Test chain=bip122:0 magic=x p2pkh=111 hrp={hrp} bip322=yes");
        Coin::parse(&text).unwrap()
    };
    let mut recognized = 0;
    for case in cases {
        let address = text(case, "address");
        let read = ["bc", "tb"].into_iter().find_map(|hrp| Address::read(address, &network(hrp), true));
        // Addresses that nobody can sign for yet are left out: Taproot's version with another length, and
        // later versions.
        let expected = case["scriptPubKey"]
            .as_str()
            .filter(|script| ["0014", "0020", "5120"].iter().any(|known| script.starts_with(known)));
        let script = read.as_ref().map(|read| read.holder.script_pubkey().to_hex_string());
        assert_eq!(script.as_deref(), expected, "{case}");
        assert_eq!(text(case, "expect") == "valid", !case["scriptPubKey"].is_null(), "{case}");
        recognized += usize::from(read.is_some_and(|read| read.canonical == address.to_lowercase()));
        let is_bitcoins = expected.is_some() && address.to_lowercase().starts_with("bc1");
        assert_eq!(
            WalletRouter::standard().recognize(address, None).len(),
            usize::from(is_bitcoins),
            "{case}"
        );
    }
    ran("bip350_segwit_addresses", cases.len());
    ran("bip350_segwit_addresses recognized", recognized);
}

#[test]
fn schnorr_signatures_of_digests_are_judged_as_bip_340_says() {
    let file = document(include_str!("../../../../../tests/vectors/bitcoin/bip340.json"));
    let cases = list(&file, "cases");
    let mut digests = 0;
    for case in cases {
        let message = bytes(text(case, "message"));
        // Transactions are signed by their digests, so messages of other lengths cannot occur.
        let Ok(digest) = <[u8; 32]>::try_from(message) else {
            assert!(text(case, "comment").starts_with("message of size"), "{case}");
            continue;
        };
        let valid = spending::schnorr_is_valid(
            &bytes(text(case, "signature")),
            &bytes(text(case, "public key")),
            digest,
        );
        assert_eq!(valid, text(case, "verification result") == "TRUE", "{case}");
        digests += 1;
    }
    ran("bip340", cases.len());
    ran("bip340 with a digest", digests);
}

fn script_of(address: &str) -> Holder {
    Address::read(address, &Coin::bitcoin(), true).unwrap().holder
}

/// The expected verdict on a signature that the BIP calls valid.
fn expected(case: &Value) -> Result<(), &'static str> {
    match text(case, "type") {
        "p2pkh" | "p2wpkh" | "p2tr" | "p2sh-p2wpkh" => Ok(()),
        conditions => {
            assert!(conditions.contains("multisig") || conditions.contains("time-lock"), "{conditions}");
            Err("inconclusive: the address depends on more than one key, or on a condition")
        }
    }
}

/// Verifies every signature of a list.
fn b_037_judge_all(name: &str, cases: &[Value], expected: impl Fn(&Value) -> Result<(), &'static str>) {
    let mut accepted = 0;
    for case in cases {
        for signature in list(case, "bip322_signatures") {
            let signature = signature.as_str().unwrap();
            let verdict = verdict(text(case, "address"), text(case, "message"), signature);
            match expected(case) {
                Ok(()) => assert!(matches!(verdict, Verdict::Valid(_)), "{verdict:?}: {case}"),
                Err(reason) => assert_eq!(verdict, Verdict::Invalid(reason), "{case}"),
            }
            accepted += usize::from(matches!(verdict, Verdict::Valid(_)));
        }
    }
    ran(name, cases.len());
    println!("{name}: {accepted} accepted");
}

fn b_037_refuse_all(name: &str, cases: &[Value]) {
    for case in cases {
        let verdict = verdict(text(case, "address"), text(case, "message"), text(case, "signature"));
        let Verdict::Invalid(reason) = verdict else {
            panic!("{case}");
        };
        assert_ne!(reason, "the address is not recognized", "{case}");
    }
    ran(name, cases.len());
}

#[test]
fn b_037_bip_322s_basic_vectors_get_their_verdicts() {
    let file = document(include_str!("../../../../../tests/vectors/bitcoin/bip322_basic.json"));
    let hashes = list(&file, "tx_hashes");
    for case in hashes {
        let message = text(case, "message");
        assert_eq!(hex::encode(bip322::message_hash(message)), text(case, "message_hash"), "{case}");
        let to_spend =
            bip322::to_spend(script_of(text(case, "address")).script_pubkey(), message).compute_txid();
        assert_eq!(to_spend.to_string(), text(case, "to_spend_tx_hash"), "{case}");
        let to_sign = bip322::to_sign(to_spend, ScriptBuf::new(), Witness::new()).compute_txid();
        assert_eq!(to_sign.to_string(), text(case, "to_sign_tx_hash"), "{case}");
    }
    ran("bip322_basic tx_hashes", hashes.len());
    b_037_judge_all("bip322_basic simple", list(&file, "simple"), expected);
    b_037_refuse_all("bip322_basic error", list(&file, "error"));
}

#[test]
fn b_037_bip_322s_generated_vectors_get_their_verdicts() {
    let file = document(include_str!("../../../../../tests/vectors/bitcoin/bip322_generated.json"));
    b_037_judge_all("bip322_generated simple", list(&file, "simple"), expected);
    b_037_judge_all("bip322_generated full", list(&file, "full"), expected);
    b_037_judge_all("bip322_generated proof_of_funds", list(&file, "proof_of_funds"), |_| {
        Err("it is a proof of funds; BIP-322's simple or full form is enough")
    });
    b_037_refuse_all("bip322_generated error", list(&file, "error"));
}

/// Runs every test in a Wycheproof file, with its key, its digest and its DER signature.
fn each_of_wycheproof(file: &str, mut judge: impl FnMut(&Value, &PublicKey, [u8; 32], &[u8])) -> usize {
    let file = document(file);
    let mut all = 0;
    for group in list(&file, "testGroups") {
        let key = PublicKey::from_slice(&bytes(text(&group["publicKey"], "uncompressed"))).unwrap();
        for test in list(group, "tests") {
            let digest = sha256::Hash::hash(&bytes(text(test, "msg"))).to_byte_array();
            judge(test, &key, digest, &bytes(text(test, "sig")));
            all += 1;
        }
    }
    assert_eq!(all as u64, file["numberOfTests"].as_u64().unwrap());
    all
}

/// As in BIP-322: DER and the sighash type, with the key given.
fn in_a_witness(key: &PublicKey, digest: [u8; 32], der: &[u8]) -> Result<(), &'static str> {
    spending::ecdsa_is_valid(&[der, &[EcdsaSighashType::All as u8]].concat(), key, digest)
}

#[test]
fn b_028_wycheproof_secp256k1_with_low_s_gets_equal_verdicts() {
    let file =
        include_str!("../../../../../tests/vectors/wycheproof/ecdsa_secp256k1_sha256_bitcoin_test.json");
    let mut recovered = 0;
    let all = each_of_wycheproof(file, |test, key, digest, der| {
        let valid = text(test, "result") == "valid";
        assert_eq!(in_a_witness(key, digest, der).is_ok(), valid, "{test}");
        // As in BIP-137: only the scalars, with each of the four keys that a header can mean.
        let Some(signature) = spending::strict_der(der) else {
            assert!(!valid, "{test}");
            return;
        };
        let ours = (27..=30).any(|header| {
            let compact = [&[header], signature.serialize_compact().as_slice()].concat();
            bip137::judge(&Holder::Key(key.pubkey_hash()), digest, &compact).is_ok()
        });
        assert_eq!(ours, valid, "{test}");
        recovered += usize::from(ours);
    });
    ran("wycheproof secp256k1 bitcoin", all);
    ran("wycheproof secp256k1 bitcoin, recovered", recovered);
}

/// The same without Bitcoin's rule about s: what is valid there is valid here if s is low, and refused if s
/// is high.
#[test]
fn b_028_wycheproof_secp256k1_in_der_is_valid_with_low_s_only() {
    let file = include_str!("../../../../../tests/vectors/wycheproof/ecdsa_secp256k1_sha256_test.json");
    let (mut accepted, mut high) = (0, 0);
    let all = each_of_wycheproof(file, |test, key, digest, der| {
        let valid = text(test, "result") == "valid";
        let ours = in_a_witness(key, digest, der);
        let is_high = ours == Err("s is in the upper half of the order");
        assert!(ours.is_ok() == valid || (valid && is_high), "{ours:?}: {test}");
        accepted += usize::from(ours.is_ok());
        high += usize::from(valid && is_high);
    });
    ran("wycheproof secp256k1 DER", all);
    ran("wycheproof secp256k1 DER, accepted", accepted);
    ran("wycheproof secp256k1 DER, refused for their high s", high);
}
