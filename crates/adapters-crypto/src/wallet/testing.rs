//! Shared by the tests of several families: verifying through the router as the server does, and signatures
//! changed in ways that anyone can.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub(super) use countersign_conformance::wallet::spellings;
use countersign_domain::wallet::WalletProof;
use countersign_ports::{Verdict, WalletVerifier};
use k256::ecdsa::Signature;
use proptest::sample::Index;
use serde_json::Value;

use crate::WalletRouter;

/// The server's verdict on an address, a text and a signature.
pub(super) fn verdict(address: &str, text: &str, signature: &str) -> Verdict {
    judge(address, None, text, signature)
}

/// The same with the chain named.
pub(super) fn verdict_on(chain: &str, address: &str, text: &str, signature: &str) -> Verdict {
    judge(address, Some(chain), text, signature)
}

/// True if the signature is valid.
pub(super) fn is_valid(address: &str, text: &str, signature: &str) -> bool {
    matches!(verdict(address, text, signature), Verdict::Valid(_))
}

fn judge(address: &str, chain: Option<&str>, text: &str, signature: &str) -> Verdict {
    let router = WalletRouter::standard();
    let Some(recognized) = router.recognize(address, chain).pop() else {
        return Verdict::Invalid("the address is not recognized");
    };
    let proof = WalletProof {
        account: recognized.account,
        kind: None,
        text: text.to_owned(),
        signature: signature.to_owned(),
    };
    let verification = pin!(router.verify(&proof));
    // One poll is enough: verification never waits.
    match verification.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(verdict) => verdict.unwrap(),
        Poll::Pending => panic!("verification of a key's signature must not wait"),
    }
}

/// The cases in a file of vectors, which are a list or a map by name.
pub(super) fn cases(file: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(file).unwrap();
    let cases = &document["cases"];
    let list = cases.as_array().map(|list| list.to_vec());
    let cases = list.unwrap_or_else(|| cases.as_object().unwrap().values().cloned().collect());
    assert!(!cases.is_empty());
    cases
}

/// A text member of a case.
pub(super) fn text<'a>(case: &'a Value, member: &str) -> &'a str {
    case[member].as_str().unwrap_or_else(|| panic!("{member} is missing in {case}"))
}

/// Decodes hexadecimal digits, with or without `0x`.
pub(super) fn bytes(hex_text: &str) -> Vec<u8> {
    hex::decode(hex_text.trim_start_matches("0x")).unwrap()
}

/// Prints how many cases ran.
pub(super) fn ran(name: &str, count: usize) {
    println!("{name}: {count} cases ran");
    assert!(count > 0);
}

/// Verifies every row of a file whose rows have an address, a chain, a text, a signature and an expectation.
pub(super) fn judge_every_row(name: &str, file: &str) {
    let cases = cases(file);
    let mut accepted = 0;
    for case in &cases {
        let [address, chain, message, signature] =
            ["address", "chain", "text", "signature"].map(|member| text(case, member));
        let verdict = verdict_on(chain, address, message, signature);
        let valid = matches!(verdict, Verdict::Valid(_));
        let expected = match text(case, "expect") {
            "accept" => true,
            "reject" => false,
            other => panic!("unknown expectation {other}"),
        };
        assert_eq!(valid, expected, "{verdict:?}: {case}");
        accepted += usize::from(valid);
    }
    ran(name, cases.len());
    ran(&format!("{name}, accepted"), accepted);
    assert!(accepted < cases.len());
}

/// The text with one of its bytes changed.
pub(super) fn with_changed_byte(text: &str, position: Index, change: u8) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let position = position.index(bytes.len());
    bytes[position] ^= change;
    String::from_utf8(bytes).unwrap()
}

/// The other scalars of the same key over the same text, which anyone can compute.
pub(super) fn with_high_s(scalars: &[u8]) -> Vec<u8> {
    let (r, s) = Signature::from_slice(scalars).unwrap().split_scalars();
    Signature::from_scalars(r, -s).unwrap().to_bytes().to_vec()
}

/// Invalid scalars: zero, the order of the group, and more.
pub(super) fn no_scalars() -> [Vec<u8>; 3] {
    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    [vec![0; 32], hex::decode(order).unwrap(), vec![0xff; 32]]
}
