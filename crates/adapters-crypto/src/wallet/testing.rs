//! What the tests of several families share: judging through the router as the server does, and signatures changed in the
//! ways that anybody can.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use countersign_domain::wallet::WalletProof;
use countersign_ports::{Verdict, WalletVerifier};
use k256::ecdsa::Signature;
use serde_json::Value;

use crate::WalletRouter;

/// What the server does with an address on a chain, a text and a signature.
pub(super) fn verdict(address: &str, chain: &str, text: &str, signature: &str) -> Verdict {
    let router = WalletRouter::standard();
    let Some(recognized) = router.recognize(address, Some(chain)).pop() else {
        return Verdict::Invalid("the address is not recognized");
    };
    let proof =
        WalletProof { account: recognized.account, text: text.to_owned(), signature: signature.to_owned() };
    let verification = pin!(router.verify(&proof));
    // One poll is enough: verification waits for nothing.
    match verification.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(verdict) => verdict.unwrap(),
        Poll::Pending => panic!("verification of a key's signature must not wait"),
    }
}

/// Judges every row of a file whose rows have an address, a chain, a text, a signature and an expectation.
pub(super) fn judge_every_row(name: &str, file: &str) {
    let document: Value = serde_json::from_str(file).unwrap();
    let cases = document["cases"].as_array().unwrap();
    let mut accepted = 0;
    for case in cases {
        let text = |member: &str| case[member].as_str().unwrap();
        let verdict = verdict(text("address"), text("chain"), text("text"), text("signature"));
        let valid = matches!(verdict, Verdict::Valid(_));
        let expected = match text("expect") {
            "accept" => true,
            "reject" => false,
            other => panic!("unknown expectation {other}"),
        };
        assert_eq!(valid, expected, "{verdict:?}: {case}");
        accepted += usize::from(valid);
    }
    println!("{name}: {} cases ran, {accepted} accepted", cases.len());
    assert!(accepted > 0 && accepted < cases.len());
}

/// The usual spellings of a signature (P-06).
pub(super) fn spellings(bytes: &[u8]) -> [String; 7] {
    [
        format!("0x{}", hex::encode(bytes)),
        format!("0x{}", hex::encode_upper(bytes)),
        hex::encode(bytes),
        STANDARD.encode(bytes),
        STANDARD_NO_PAD.encode(bytes),
        URL_SAFE.encode(bytes),
        URL_SAFE_NO_PAD.encode(bytes),
    ]
}

/// The other scalars of the same key over the same text, which anybody can compute.
pub(super) fn with_high_s(scalars: &[u8]) -> Vec<u8> {
    let (r, s) = Signature::from_slice(scalars).unwrap().split_scalars();
    Signature::from_scalars(r, -s).unwrap().to_bytes().to_vec()
}

/// Scalars that are none: zero, the order of the group, and more.
pub(super) fn no_scalars() -> [Vec<u8>; 3] {
    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    [vec![0; 32], hex::decode(order).unwrap(), vec![0xff; 32]]
}
