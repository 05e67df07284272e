//! The vectors in `tests/vectors` for Solana, case by case, through the router as the server uses it.
//!
//! Vectors about whole texts (grammar, expiry) are in `issued_texts.rs`.

use countersign_ports::WalletVerifier;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::signed_bytes::{Form, version_zero};
use super::{Address, SolanaVerifier, base58, signature};
use crate::wallet::testing::{cases, is_valid, ran, text};

/// The forms under which a signature is valid for this text.
fn forms(address: &str, message: &str, signature: &str) -> Vec<Form> {
    let address = Address::parse(address).unwrap();
    let signature = signature::readings(signature).next().unwrap();
    let signed = |form: &Form| address.signed(&form.bytes(message, address.as_bytes()).unwrap(), &signature);
    Form::ALL.into_iter().filter(signed).collect()
}

#[test]
fn b_041_b_042_signature_forms_are_judged_as_the_vectors_and_the_decisions_say() {
    let cases = cases(include_str!("../../../../../tests/vectors/solana/login_signature_forms.json"));
    let (mut accepted, mut pinned, mut other_texts) = (0, 0, 0);
    for case in &cases {
        let (name, _) = text(case, "name").rsplit_once(" #").unwrap();
        let form = match name {
            "raw UTF-8, base58" | "raw UTF-8, base64" | "raw UTF-8, hex" => Some(Form::Raw),
            "off-chain v0, application domain = ASCII host padded (Ledger through Phantom)" => {
                Some(Form::LedgerWithHost)
            }
            "off-chain v0, zero application domain, format 1 (UTF-8)" => Some(Form::Specification),
            "off-chain v0 short header (solana-offchain-message crate)" => Some(Form::CommandLine),
            "off-chain v1 (sRFC 3, @solana/kit)" => Some(Form::VersionOne),
            // The signature is valid but the text is not ours: none of our lines can be made from a client's
            // words. `issued_texts.rs` shows that our writer never writes such a text, and a verifier only
            // gets issued texts.
            "statement carries forged fields before the real ones" => {
                other_texts += 1;
                Some(Form::Raw)
            }
            _ => None,
        };
        let (address, message, signature) =
            (text(case, "address"), text(case, "message"), text(case, "signature"));
        match text(case, "expect") {
            "accept" => assert!(form.is_some(), "{case}"),
            "reject" => assert!(form.is_none() || name.starts_with("statement"), "{case}"),
            // P-06 and P-08; the command line needs the short header.
            "policy" => pinned += 1,
            other => panic!("unknown expectation {other}"),
        }
        assert_eq!(is_valid(address, message, signature), form.is_some(), "{case}");
        if let Some(form) = form {
            assert_eq!(forms(address, message, signature), [form], "{case}");
            accepted += 1;
        }
    }
    ran("login_signature_forms", cases.len());
    ran("login_signature_forms accepted", accepted);
    ran("login_signature_forms that are policy", pinned);
    ran("login_signature_forms over a text that is not ours", other_texts);
}

#[test]
fn b_033_b_040_b_044_keys_that_nobody_or_everybody_can_sign_for_are_no_accounts() {
    let cases = cases(include_str!("../../../../../tests/vectors/solana/degenerate_keys.json"));
    let mut forgeries = 0;
    for case in &cases {
        assert_eq!(text(case, "expect"), "reject", "{case}");
        let address = text(case, "address");
        assert_eq!(SolanaVerifier.recognize(address, None), [], "{case}");
        assert!(!is_valid(address, text(case, "message"), text(case, "signature")), "{case}");
        // Where the library's plain check accepts the forgery, the strict one does not.
        if case["cofactorless_equation_holds"] == true {
            let key = ed25519_dalek::VerifyingKey::from_bytes(&base58(address).unwrap()).unwrap();
            let signature = signature::readings(text(case, "signature")).next().unwrap();
            let signature = ed25519_dalek::Signature::from_bytes(&signature);
            assert!(key.verify_strict(text(case, "message").as_bytes(), &signature).is_err(), "{case}");
            forgeries += 1;
        }
    }
    ran("degenerate_keys", cases.len());
    ran("degenerate_keys with a forged signature", forgeries);
}

#[test]
fn b_041_published_signatures_cover_the_bytes_that_they_are_said_to_cover() {
    let cases = cases(include_str!("../../../../../tests/vectors/solana/supabase_siws_signed.json"));
    for case in &cases {
        let (address, message, signature) =
            (text(case, "address"), text(case, "message"), text(case, "signature_b64"));
        let form = match text(case, "signed_bytes_form") {
            "raw" => Some(Form::Raw),
            "offchain_v0_full_header_appdomain_is_ascii_domain_padded_fmt0" => Some(Form::LedgerWithHost),
            "none" => None,
            other => panic!("unknown form {other}"),
        };
        assert_eq!(is_valid(address, message, signature), form.is_some(), "{case}");
        if let Some(form) = form {
            assert_eq!(forms(address, message, signature), [form], "{case}");
        }
    }
    ran("supabase_siws_signed", cases.len());
}

/// A published message without the second of its two signers, because ours have one signer.
fn with_the_first_signer_only(bytes: &[u8]) -> Vec<u8> {
    let count = if bytes[16] == 0 { 16 + 1 + 32 + 1 } else { 16 + 1 };
    assert_eq!(bytes[count], 2);
    let mut bytes = bytes.to_vec();
    bytes[count] = 1;
    bytes.drain(count + 1 + 32..count + 1 + 64);
    bytes
}

/// There is no decoder here. For messages that can be decoded, we write the same bytes; the others we never
/// write.
#[test]
fn b_041_the_published_layouts_are_the_ones_that_we_write() {
    let cases = cases(include_str!("../../../../../tests/vectors/solana/offchain_message_bytes.json"));
    let nobody = [0x0c; 32];
    let mut short = 0;
    for case in &cases {
        let bytes = hex::decode(text(case, "bytes")).unwrap();
        let utf8 = |start: usize| std::str::from_utf8(&bytes[start..]).unwrap();
        match text(case, "expect") {
            "decodes" if bytes[16] == 1 => {
                let message = utf8(16 + 1 + 1 + 64);
                let signer = bytes[18..50].try_into().unwrap();
                let ours = Form::VersionOne.bytes(message, signer).unwrap();
                assert_eq!(*ours, with_the_first_signer_only(&bytes), "{case}");
            }
            "decodes" => {
                let message = utf8(16 + 1 + 32 + 1 + 1 + 64 + 2);
                let domain = bytes[17..49].try_into().unwrap();
                let signer = bytes[51..83].try_into().unwrap();
                let ours = version_zero(domain, bytes[49], signer, message).unwrap();
                assert_eq!(ours, with_the_first_signer_only(&bytes), "{case}");
                // We would choose the same format.
                let specified = Form::Specification.bytes(message, signer).unwrap();
                assert_eq!(specified[49], bytes[49], "{case}");
            }
            "decodes (short layout)" => {
                let ours = Form::CommandLine.bytes(utf8(20), &nobody).unwrap();
                assert_eq!(*ours, bytes, "{case}");
                let hash = bs58::encode(Sha256::digest(&ours)).into_string();
                assert_eq!(hash, text(case, "sha256_base58"), "{case}");
                short += 1;
            }
            "error" => {
                let signer = base58(&bs58::encode(&bytes[18..50]).into_string()).unwrap_or(nobody);
                for message in ["", "Hello world", "Hello\nworld", "!!!!!!!!!!!!"] {
                    for ours in Form::ALL.into_iter().filter_map(|form| form.bytes(message, &signer)) {
                        assert_ne!(*ours, bytes, "{case}");
                    }
                }
            }
            other => panic!("unknown expectation {other}"),
        }
    }
    ran("offchain_message_bytes", cases.len());
    ran("offchain_message_bytes with the short header", short);
}

#[test]
fn b_040_wycheproof_ed25519_gets_equal_verdicts() {
    let file = include_str!("../../../../../tests/vectors/wycheproof/ed25519_test.json");
    let document: Value = serde_json::from_str(file).unwrap();
    let (mut all, mut valid) = (0, 0);
    for group in document["testGroups"].as_array().unwrap() {
        let key = hex::decode(text(&group["publicKey"], "pk")).unwrap();
        let address = Address::parse(&bs58::encode(key).into_string()).unwrap();
        for test in group["tests"].as_array().unwrap() {
            all += 1;
            let message = hex::decode(text(test, "msg")).unwrap();
            let verified =
                signature::readings(text(test, "sig")).any(|signature| address.signed(&message, &signature));
            assert_eq!(verified, text(test, "result") == "valid", "{test}");
            valid += usize::from(verified);
        }
    }
    assert_eq!(all as u64, document["numberOfTests"].as_u64().unwrap());
    ran("wycheproof ed25519", all);
    ran("wycheproof ed25519, valid", valid);
}
