//! The vectors in `tests/vectors` for Ethereum, case by case, through the router as the server uses it.
//!
//! `erc1271_erc6492.json` and `siwe/eip1271.json` are in tests/contract_wallets.rs, because contracts need a
//! chain to ask.

use countersign_ports::{Verdict, WalletVerifier};
use k256::ecdsa::signature::Verifier;
use k256::ecdsa::{RecoveryId, Signature, SigningKey, VerifyingKey};
use serde_json::Value;
use sha2::Sha256;
use sha3::{Digest, Keccak256};

use super::{Address, personal_sign_digest, recover};
use crate::WalletRouter;
use crate::wallet::testing::{bytes, cases, is_valid, ran, text, verdict};

#[test]
fn b_026_published_signatures_hash_and_recover_as_published() {
    let cases = cases(include_str!("../../../../../tests/vectors/ethereum/eip191_published.json"));
    let mut signatures = 0;
    for case in &cases {
        let message = case["message_hex"]
            .as_str()
            .map_or_else(|| text(case, "message_text").as_bytes().to_vec(), bytes);
        let digest = personal_sign_digest(&message);
        assert_eq!(digest.to_vec(), bytes(text(case, "message_hash")), "{case}");
        let Some(signature) = case["signature"].as_str() else {
            continue;
        };
        let address = text(case, "address");
        assert_eq!(recover(&digest, &bytes(signature)).unwrap().checksummed(), address, "{case}");
        if let Ok(message) = std::str::from_utf8(&message) {
            assert!(is_valid(address, message, signature), "{case}");
            if let Some(compact) = case["compact"].as_str() {
                assert!(!is_valid(address, message, compact), "B-023, P-06: {case}");
            }
        }
        let key = SigningKey::from_slice(&bytes(text(case, "privateKey"))).unwrap();
        assert_eq!(Address::of_key(key.verifying_key()).checksummed(), address, "{case}");
        signatures += 1;
    }
    ran("eip191_published", cases.len());
    ran("eip191_published with a signature", signatures);
}

#[test]
fn b_029_addresses_are_taken_canonicalized_or_refused_as_the_vectors_say() {
    let cases = cases(include_str!("../../../../../tests/vectors/ethereum/eip55_addresses.json"));
    let router = WalletRouter::standard();
    for case in &cases {
        let address = text(case, "address");
        let recognized = router.recognize(address, None).pop().map(|recognized| recognized.account.address);
        let expected = match text(case, "expect") {
            "valid-checksum" => Some(address),
            "unchecksummed" => Some(text(case, "checksummed")),
            "invalid-checksum" | "malformed" | "zero-address" => None,
            other => panic!("unknown expectation {other}"),
        };
        assert_eq!(recognized.as_deref(), expected, "{case}");
        if let Some(icap) = case["icap"].as_str() {
            assert_eq!(router.recognize(icap, None), [], "B-032: {case}");
        }
        if let Some(key) = case["privateKey"].as_str() {
            let key = SigningKey::from_slice(&bytes(key)).unwrap();
            assert_eq!(Some(Address::of_key(key.verifying_key()).checksummed().as_str()), expected, "{case}");
        }
    }
    ran("eip55_addresses", cases.len());
}

#[test]
fn b_026_hashes_are_those_of_the_vectors() {
    let cases = cases(include_str!("../../../../../tests/vectors/ethereum/hashes.json"));
    for case in &cases {
        let data = bytes(text(case, "data"));
        assert_eq!(Keccak256::digest(&data).to_vec(), bytes(text(case, "keccak256")), "{case}");
        assert_eq!(Sha256::digest(&data).to_vec(), bytes(text(case, "sha256")), "{case}");
    }
    ran("hashes", cases.len());
}

#[test]
fn b_002_a_signature_is_good_for_its_own_text_only() {
    let cases = cases(include_str!("../../../../../tests/vectors/ethereum/login_altered_text.json"));
    let mut freshly_signed = 0;
    for case in &cases {
        let (address, signature) = (text(case, "address"), text(case, "signature"));
        let good_for_submitted = is_valid(address, text(case, "submitted"), signature);
        assert_eq!(good_for_submitted, case["signature_valid_for_submitted"].as_bool().unwrap(), "{case}");
        // The server verifies the text that it issued, whatever text was submitted.
        assert_eq!(is_valid(address, text(case, "issued"), signature), !good_for_submitted, "{case}");
        freshly_signed += usize::from(good_for_submitted);
    }
    ran("login_altered_text", cases.len());
    ran("login_altered_text, signed as altered", freshly_signed);
}

#[test]
fn b_017_a_signature_over_another_kind_of_hash_is_refused() {
    let cases = cases(include_str!("../../../../../tests/vectors/ethereum/login_hash_confusion.json"));
    for case in &cases {
        assert_eq!(text(case, "expect"), "reject", "{case}");
        assert!(!is_valid(text(case, "address"), text(case, "message"), text(case, "signature")), "{case}");
    }
    ran("login_hash_confusion", cases.len());
}

/// P-06, for the rows that leave the choice to us.
fn decided(name: &str) -> bool {
    let (name, _) = name.split_once(" #").unwrap();
    match name {
        "hex without 0x" | "base64url, unpadded" | "v=0/1" | "base64 without padding" => true,
        "ERC-2098 compact 64 bytes" | "64 bytes: v cut off" => false,
        other => panic!("no decision about {other}"),
    }
}

#[test]
fn b_021_to_b_025_signature_forms_are_judged_as_the_vectors_and_p_06_say() {
    let cases = cases(include_str!("../../../../../tests/vectors/ethereum/login_signature_forms.json"));
    let (mut accepted, mut pinned) = (0, 0);
    for case in &cases {
        let expected = match text(case, "expect") {
            "accept" => true,
            "reject" => false,
            "policy" => {
                pinned += 1;
                decided(text(case, "name"))
            }
            other => panic!("unknown expectation {other}"),
        };
        let valid = is_valid(text(case, "address"), text(case, "message"), text(case, "signature"));
        assert_eq!(valid, expected, "{case}");
        accepted += usize::from(valid);
    }
    ran("login_signature_forms", cases.len());
    ran("login_signature_forms accepted", accepted);
    ran("login_signature_forms decided by P-06", pinned);
}

#[test]
fn b_026_the_prefix_counts_bytes() {
    let cases = cases(include_str!("../../../../../tests/vectors/ethereum/personal_sign_prefix_length.json"));
    for case in &cases {
        let message = text(case, "message");
        assert_eq!(hex::encode(message), text(case, "message_hex"), "{case}");
        let valid = is_valid(text(case, "address"), message, text(case, "signature"));
        assert_eq!(valid, text(case, "expect") == "accept", "{case}");
    }
    ran("personal_sign_prefix_length", cases.len());
}

#[test]
fn a_contract_wallets_signature_is_refused_offline() {
    let cases = cases(include_str!("../../../../../tests/vectors/siwe/eip1271.json"));
    for case in &cases {
        let message = text(case, "message");
        let address = message.lines().nth(1).unwrap();
        let reason = Verdict::Invalid("it was made by another key or for another text");
        assert_eq!(verdict(address, message, text(case, "signature")), reason, "{case}");
    }
    ran("siwe/eip1271", cases.len());
}

#[test]
fn signatures_that_another_server_was_tested_with_get_the_same_verdict() {
    let cases = cases(include_str!("../../../../../tests/vectors/siwe/supabase_siwe_signed.json"));
    for case in &cases {
        let valid = is_valid(text(case, "address"), text(case, "message"), text(case, "signature"));
        assert_eq!(valid, case["signature_matches_address"].as_bool().unwrap(), "{case}");
    }
    ran("siwe/supabase_siwe_signed", cases.len());
}

#[test]
fn b_028_wycheproof_secp256k1_with_low_s_gets_equal_verdicts() {
    let file =
        include_str!("../../../../../tests/vectors/wycheproof/ecdsa_secp256k1_sha256_bitcoin_test.json");
    let document: Value = serde_json::from_str(file).unwrap();
    let (mut all, mut recovered) = (0, 0);
    for group in document["testGroups"].as_array().unwrap() {
        let key = VerifyingKey::from_sec1_bytes(&bytes(text(&group["publicKey"], "uncompressed"))).unwrap();
        let address = Address::of_key(&key);
        for test in group["tests"].as_array().unwrap() {
            all += 1;
            let valid = text(test, "result") == "valid";
            let message = bytes(text(test, "msg"));
            let signature = Signature::from_der(&bytes(text(test, "sig"))).ok();
            let verified = signature.is_some_and(|signature| key.verify(&message, &signature).is_ok());
            assert_eq!(verified, valid, "{test}");
            // In our own way, with SHA-256 as the hash: recover with either parity and compare the addresses.
            let Some(signature) = signature else {
                continue;
            };
            let digest: [u8; 32] = Sha256::digest(&message).into();
            let ours = [27, 28].into_iter().any(|v| {
                let signature = [&signature.to_bytes()[..], &[v]].concat();
                recover(&digest, &signature).is_ok_and(|signer| signer.is(&address))
            });
            // An r that was reduced modulo the order cannot be expressed with 27 and 28; wallets never make
            // one.
            let reduced = [false, true].into_iter().any(|y_is_odd| {
                let id = RecoveryId::new(y_is_odd, true);
                VerifyingKey::recover_from_prehash(&digest, &signature, id).is_ok_and(|found| found == key)
            });
            assert_eq!(ours, valid && !reduced, "{test}");
            recovered += usize::from(ours);
        }
    }
    assert_eq!(all as u64, document["numberOfTests"].as_u64().unwrap());
    ran("wycheproof secp256k1 bitcoin", all);
    ran("wycheproof secp256k1 bitcoin, recovered", recovered);
}
