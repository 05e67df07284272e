//! Which byte strings count as signed: the six forms of the text, and none with any part of a header changed
//! (B-041).

use std::collections::BTreeSet;

use super::properties::{TEXT, Wallet, wallet};
use super::signed_bytes::{Form, version_zero};

#[test]
fn b_041_an_issued_text_has_six_byte_strings_and_no_two_texts_share_one() {
    let signer = wallet().public_key();
    let strings = |text: &str| -> BTreeSet<Vec<u8>> {
        Form::ALL.into_iter().map(|form| form.bytes(text, &signer).unwrap().into_owned()).collect()
    };
    let (ours, other) = (strings(TEXT), strings(&TEXT.replace("...", "..!")));
    assert_eq!((ours.len(), other.len()), (6, 6));
    assert!(ours.is_disjoint(&other));
}

#[test]
fn b_041_any_other_header_is_refused() {
    let wallet = wallet();
    let signer = wallet.public_key();
    let full = |domain: &[u8], format, signer: &[u8; 32]| {
        let mut padded = [0; 32];
        padded[..domain.len()].copy_from_slice(domain);
        version_zero(&padded, format, signer, TEXT).unwrap()
    };
    assert!(wallet.may_sign(&full(b"auth.example", 0, &signer), TEXT));
    assert!(wallet.may_sign(&full(b"", 0, &signer), TEXT));
    assert!(wallet.may_sign(&full(b"", 1, &signer), TEXT));
    let short = Form::CommandLine.bytes(TEXT, &signer).unwrap();
    let mut another_length = short.to_vec();
    another_length[18] += 1;
    let one = Form::VersionOne.bytes(TEXT, &signer).unwrap();
    let version = |version: u8, bytes: &[u8]| [&bytes[..16], &[version], &bytes[17..]].concat();
    let stranger = Wallet::new([0x43; 32]).public_key();
    let two_signers = [&one[..17], &[2], &signer, &stranger, TEXT.as_bytes()].concat();
    let with_a_length = [&one[..50], &[u8::try_from(TEXT.len()).unwrap(), 0], TEXT.as_bytes()].concat();
    let refused = [
        full(b"evil.example", 0, &signer),
        full(b"auth.example.evil.example", 0, &signer),
        full(b"auth.exampl", 0, &signer),
        full(b"auth.example", 1, &signer),
        full(b"auth.example", 2, &signer),
        full(b"", 2, &signer),
        full(b"auth.example", 0, &stranger),
        full(b"", 0, &[0; 32]),
        another_length,
        version(1, &short),
        version(2, &one),
        version(0, &one),
        version(255, &one),
        two_signers,
        with_a_length,
        [&one[..50], b"", &TEXT.as_bytes()[1..]].concat(),
        [&short[..16], TEXT.as_bytes()].concat(),
        [&[0xff], TEXT.as_bytes()].concat(),
        [TEXT.as_bytes(), b"\n"].concat(),
    ];
    for bytes in refused {
        assert!(!wallet.may_sign(&bytes, TEXT), "{}", hex::encode(&bytes));
    }
}

#[test]
fn the_host_in_the_header_is_the_texts_own_in_full_or_there_is_none() {
    let wallet = wallet();
    let text = |host: &str| format!("{host} wants you to sign in with your Solana account:\n...");
    let header = |host: &[u8], text: &str| {
        let mut domain = [0; 32];
        domain[..host.len()].copy_from_slice(host);
        version_zero(&domain, 0, &wallet.public_key(), text).unwrap()
    };
    let longest = "abcdefghijklmnopqrst.example.org";
    assert_eq!(longest.len(), 32);
    for host in ["a", "localhost:8080", "[::1]:8080", longest] {
        assert!(wallet.may_sign(&header(host.as_bytes(), &text(host)), &text(host)), "{host}");
    }
    let too_long = format!("{longest}a");
    assert!(!wallet.may_sign(&header(longest.as_bytes(), &text(&too_long)), &text(&too_long)));
    assert!(wallet.may_sign(&header(b"", &text(&too_long)), &text(&too_long)));
    // A text that names no host has no header with a host.
    for odd in ["two words", "a\nb", "h\u{f6}st", "\u{7f}"] {
        let ledgers = Form::LedgerWithHost.bytes(&text(odd), &wallet.public_key()).map(|_| ());
        assert_eq!(ledgers, None, "{odd}");
        assert!(!wallet.may_sign(&header(odd.as_bytes(), &text(odd)), &text(odd)), "{odd}");
    }
    assert_eq!(Form::LedgerWithHost.bytes(&text(""), &wallet.public_key()), None);
}

#[test]
fn formats_follow_the_characters_and_the_length_as_each_writer_counts_them() {
    let signer = wallet().public_key();
    let format = |form: Form, text: &str| {
        let position = if form == Form::CommandLine { 17 } else { 49 };
        form.bytes(text, &signer).map(|bytes| bytes[position])
    };
    let formats =
        |text: &str| [Form::Ledger, Form::Specification, Form::CommandLine].map(|form| format(form, text));
    assert_eq!(formats("a text"), [Some(0), Some(0), Some(0)]);
    assert_eq!(formats("a\ntext"), [Some(0), Some(1), Some(1)]);
    assert_eq!(formats("a\ttext"), [Some(1), Some(1), Some(1)]);
    assert_eq!(formats("\u{e4} text"), [Some(1), Some(1), Some(1)]);
    assert_eq!(formats(&"a".repeat(1_212)), [Some(0), Some(0), Some(0)]);
    assert_eq!(formats(&"a".repeat(1_213)), [Some(0), Some(0), Some(2)]);
    assert_eq!(formats(&"a".repeat(1_232)), [Some(0), Some(0), Some(2)]);
    assert_eq!(formats(&"a".repeat(1_233)), [Some(0), Some(2), Some(2)]);
    assert_eq!(formats(&"a".repeat(1 << 16)), [None, None, None]);
    assert_eq!(formats(""), [None, None, None]);
    assert_eq!(Form::VersionOne.bytes("", &signer), None);
    assert!(wallet().may_sign(b"", ""), "an empty text has only the raw form");
}
