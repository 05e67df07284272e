//! Rules that hold for every wallet, text and signature, and the reasons for the refusals.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{Verdict, WalletVerifier};
use ed25519_dalek::{Signer, SigningKey};
use proptest::prelude::*;

use super::signed_bytes::Form;
use super::{CHAIN, SolanaVerifier, judge, signature};
use crate::WalletRouter;
use crate::wallet::testing::{self, is_valid, verdict, with_changed_byte};

pub(super) const TEXT: &str = "auth.example wants you to sign in with your Solana account:\n...";

/// A key that signs in whatever form a test wants.
pub(super) struct Wallet(SigningKey);

impl Wallet {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&key))
    }

    pub(super) fn public_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    fn address(&self) -> String {
        bs58::encode(self.public_key()).into_string()
    }

    fn sign(&self, form: Form, text: &str) -> [u8; 64] {
        self.sign_bytes(&form.bytes(text, &self.public_key()).unwrap())
    }

    fn sign_bytes(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }

    /// True if the server accepts this wallet's signature of these bytes as a signature of this text.
    pub(super) fn may_sign(&self, bytes: &[u8], text: &str) -> bool {
        is_valid(&self.address(), text, &hex::encode(self.sign_bytes(bytes)))
    }
}

pub(super) fn wallet() -> Wallet {
    Wallet::new([0x42; 32])
}

/// The usual encodings, and base58.
fn spellings(bytes: &[u8]) -> Vec<String> {
    let mut spellings = testing::spellings(bytes);
    spellings.push(bs58::encode(bytes).into_string());
    spellings
}

fn readings(text: &str) -> Vec<[u8; 64]> {
    signature::readings(text).collect()
}

#[test]
fn b_041_b_042_every_spelling_of_every_form_is_good() {
    let wallet = wallet();
    for form in Form::ALL {
        for spelling in spellings(&wallet.sign(form, TEXT)) {
            assert!(is_valid(&wallet.address(), TEXT, &spelling), "{form:?} {spelling}");
        }
    }
}

/// Found by search: a text of 86 characters that is valid in two encodings. The intended signature is found
/// in either case.
#[test]
fn b_042_a_spelling_with_two_readings_is_good_whichever_was_meant_and_for_nobody_else() {
    let wallet = wallet();
    let stranger = Wallet::new([0x43; 32]);
    type Spell = fn(&[u8]) -> String;
    let cases: [(u32, Spell); 2] = [
        (211_245, |bytes| STANDARD_NO_PAD.encode(bytes)),
        (280_423, |bytes| bs58::encode(bytes).into_string()),
    ];
    for (number, spell) in cases {
        let text = format!("ambiguous {number}");
        let signature = wallet.sign(Form::Raw, &text);
        let spelling = spell(&signature);
        let both = readings(&spelling);
        assert_eq!((spelling.len(), both.len()), (86, 2), "{spelling}");
        assert!(both.contains(&signature) && both[0] != both[1]);
        assert!(is_valid(&wallet.address(), &text, &spelling));
        assert!(!is_valid(&wallet.address(), "another text", &spelling));
        assert!(!is_valid(&stranger.address(), &text, &spelling));
        // The unintended reading is never valid, however it is encoded.
        let other = both.into_iter().find(|bytes| *bytes != signature).unwrap();
        for spelling in spellings(&other).into_iter().filter(|other| *other != spelling) {
            assert!(!is_valid(&wallet.address(), &text, &spelling), "{spelling}");
        }
    }
}

#[test]
fn b_042_other_lengths_are_refused() {
    let good = wallet().sign(Form::Raw, TEXT);
    let expected = Verdict::Invalid("it is not 64 bytes in base58, base64, base64url or hex");
    for length in [0, 1, 32, 62, 63, 65, 66, 96, 128, 1 << 10] {
        let bytes: Vec<u8> = good.iter().copied().cycle().take(length).collect();
        for spelling in spellings(&bytes) {
            assert_eq!(verdict(&wallet().address(), TEXT, &spelling), expected, "{length} {spelling}");
        }
    }
    for text in ["1".repeat(1 << 20), "1".repeat(63), "1".repeat(65), "z".repeat(88)] {
        assert_eq!(readings(&text), <[[u8; 64]; 0]>::default(), "{} characters", text.len());
    }
    assert_eq!(readings(&"1".repeat(64)), [[0; 64]]);
}

#[test]
fn b_040_a_signature_with_s_beyond_the_order_is_refused() {
    // The order of the group, little-endian.
    let order = hex::decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").unwrap();
    let mut signature = wallet().sign(Form::Raw, TEXT);
    let mut carry = 0;
    for (byte, more) in signature[32..].iter_mut().zip(&order) {
        let sum = u16::from(*byte) + u16::from(*more) + carry;
        *byte = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    for spelling in spellings(&signature) {
        assert!(!is_valid(&wallet().address(), TEXT, &spelling));
    }
}

#[test]
fn an_account_that_recognizing_would_not_give_is_refused_with_its_own_reason() {
    let wallet = wallet();
    let account = SolanaVerifier.recognize(&wallet.address(), None).remove(0).account;
    let signature = hex::encode(wallet.sign(Form::Raw, TEXT));
    let judged = |account: WalletAccount| {
        judge(&WalletProof { account, kind: None, text: TEXT.to_owned(), signature: signature.clone() })
    };
    assert_eq!(judged(account.clone()), Ok(()));
    let not_solana = Err("the account is not of the Solana family");
    for other in
        ["solana", "eip155", "eip155:1", "solana:mainnet", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", ""]
    {
        assert_eq!(judged(WalletAccount { family: other.to_owned(), ..account.clone() }), not_solana);
        assert_eq!(judged(WalletAccount { chain: other.to_owned(), ..account.clone() }), not_solana);
    }
    for address in ["", "11111111111111111111111111111111", "8aED6eH18ztMTdsFb8TexyiNHj4yZusmjArSNuMzBsAF"] {
        let account = WalletAccount { address: address.to_owned(), ..account.clone() };
        assert_eq!(judged(account), Err("the account's address is not a public key"));
    }
}

#[test]
fn b_033_b_043_an_address_is_an_account_of_the_main_network_and_of_no_other() {
    let address = wallet().address();
    let router = WalletRouter::standard();
    let recognized = router.recognize(&address, None);
    assert_eq!(recognized.len(), 1);
    let account =
        WalletAccount { family: CHAIN.to_owned(), chain: CHAIN.to_owned(), address: address.clone() };
    assert_eq!((recognized[0].kind.as_ref(), recognized[0].chain_id.as_str()), ("Solana", "mainnet"));
    assert_eq!(recognized[0].account, account);
    assert_eq!(router.recognize(&address, Some(CHAIN)), recognized);
    let others =
        ["solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "solana:mainnet", "mainnet", "solana:", "eip155:1"];
    for chain in others {
        assert_eq!(router.recognize(&address, Some(chain)), [], "{chain}");
    }
}

#[test]
fn b_031_b_033_what_only_looks_like_an_address_is_refused() {
    let address = wallet().address();
    let lookalike = |from: char, to: &str| address.replacen(from, to, 1);
    let first = address.chars().next().unwrap();
    let refused = [
        format!("1{address}"),
        format!(" {address}"),
        format!("{address}\n"),
        format!("{address}\0"),
        format!("\u{feff}{address}"),
        format!("{address}\u{200b}"),
        format!("solana:{address}"),
        lookalike(first, "0"),
        lookalike(first, "O"),
        lookalike(first, "I"),
        lookalike(first, "l"),
        lookalike(first, "\u{430}"),
        "toly.sol".to_owned(),
        hex::encode(wallet().public_key()),
        STANDARD.encode(wallet().public_key()),
        "1".repeat(32),
        "1".repeat(44),
        "z".repeat(44),
        "1".repeat(1 << 20),
    ];
    for text in refused {
        assert_eq!(SolanaVerifier.recognize(&text, None), [], "{:.80}", text);
    }
}

#[test]
fn the_hint_is_for_solana_accounts_only() {
    let router = WalletRouter::standard();
    let hints = |address: &str| {
        let account = router.recognize(address, None).remove(0).account;
        router.signing_hints(&account).into_iter().map(|hint| hint.tool).collect::<Vec<_>>()
    };
    assert_eq!(hints(&wallet().address()), ["Solana CLI"]);
    assert!(!hints("0x2c7536E3605D9C16a7a3D7b1898e529396a65c23").contains(&"Solana CLI"));
}

fn any_wallet() -> impl Strategy<Value = Wallet> {
    any::<[u8; 32]>().prop_map(Wallet::new)
}

fn any_form() -> impl Strategy<Value = Form> {
    prop::sample::select(Form::ALL.to_vec())
}

fn issued(line: &str) -> String {
    format!("auth.example wants you to sign in with your Solana account:\n{line}")
}

impl std::fmt::Debug for Wallet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wallet({})", self.address())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_wallet_signs_in_whatever_form_and_spelling_is_valid(
        wallet in any_wallet(),
        form in any_form(),
        line in ".{0,200}",
        spelling in 0_usize..8,
    ) {
        let text = issued(&line);
        let signature = &spellings(&wallet.sign(form, &text))[spelling];
        prop_assert!(is_valid(&wallet.address(), &text, signature));
    }

    #[test]
    fn a_text_that_differs_is_refused_in_every_form(
        wallet in any_wallet(),
        form in any_form(),
        line in "[ -~\n]{1,200}",
        position in any::<prop::sample::Index>(),
        change in 1_u8..128,
    ) {
        let text = issued(&line);
        let signature = hex::encode(wallet.sign(form, &text));
        let changed = with_changed_byte(&text, position, change);
        prop_assert!(!is_valid(&wallet.address(), &changed, &signature));
        prop_assert!(!is_valid(&wallet.address(), &text[1..], &signature));
        prop_assert!(!is_valid(&wallet.address(), &(text + "\n"), &signature));
    }

    #[test]
    fn another_wallets_signature_is_refused_in_every_form(
        wallet in any_wallet(),
        other in any_wallet(),
        form in any_form(),
    ) {
        prop_assume!(wallet.public_key() != other.public_key());
        prop_assert!(!is_valid(&wallet.address(), TEXT, &hex::encode(other.sign(form, TEXT))));
        // Putting the victim's key into the header does not help either.
        let claimed = form.bytes(TEXT, &wallet.public_key()).unwrap();
        prop_assert!(!is_valid(&wallet.address(), TEXT, &hex::encode(other.sign_bytes(&claimed))));
    }

    #[test]
    fn a_signature_with_one_changed_byte_is_refused(
        wallet in any_wallet(),
        form in any_form(),
        position in 0_usize..64,
        change in 1_u8..=255,
    ) {
        let mut bytes = wallet.sign(form, TEXT);
        bytes[position] ^= change;
        for spelling in spellings(&bytes) {
            prop_assert!(!is_valid(&wallet.address(), TEXT, &spelling));
        }
    }

    #[test]
    fn b_042_the_bytes_that_were_spelled_are_always_among_the_readings(head in any::<[u8; 32]>(), tail in any::<[u8; 32]>(), zeros in 0_usize..64) {
        let mut bytes: [u8; 64] = [head, tail].concat().try_into().unwrap();
        bytes[..zeros].fill(0);
        for spelling in spellings(&bytes) {
            let readings = readings(&spelling);
            prop_assert!(readings.contains(&bytes), "{}", spelling);
            prop_assert!(readings.len() == 1 || spelling.len() == 86, "{}", spelling);
        }
    }

    #[test]
    fn b_042_no_reading_is_invented(text in "[1-9A-HJ-NP-Za-km-z]{63,90}|1[1-9A-HJ-NP-Za-km-z]{84}[AQgw]|[A-Za-z0-9+/=_-]{84,90}|[0-9a-fx]{126,131}|.{0,140}") {
        for bytes in readings(&text) {
            let is_a_spelling = spellings(&bytes).contains(&text)
                || hex::encode(bytes) == text.strip_prefix("0x").unwrap_or(&text).to_lowercase();
            prop_assert!(is_a_spelling, "{}", text);
        }
    }

    #[test]
    fn b_040_no_bytes_that_nobody_signed_are_valid_in_any_reading(
        wallet in any_wallet(),
        spelling in "1[1-9A-HJ-NP-Za-km-z]{84}[AQgw]|[1-9A-HJ-NP-Za-km-z]{87,88}|[0-9a-f]{128}",
    ) {
        prop_assert!(!is_valid(&wallet.address(), TEXT, &spelling));
    }

    #[test]
    fn any_text_at_all_gets_a_verdict(address in ".{0,60}", text in ".{0,60}", signature in ".{0,140}") {
        prop_assert!(!is_valid(&address, &text, &signature));
        prop_assert!(!is_valid(&wallet().address(), &text, &signature));
    }

    #[test]
    fn every_key_is_an_account_in_one_spelling(wallet in any_wallet()) {
        let address = wallet.address();
        let recognized = SolanaVerifier.recognize(&address, None).remove(0);
        prop_assert_eq!(&recognized.account.address, &address);
        for other in [address.to_lowercase(), address.to_uppercase()] {
            let recognized = SolanaVerifier.recognize(&other, None);
            prop_assert!(other == address || recognized.iter().all(|other| other.account.address != address));
        }
    }

    #[test]
    fn b_044_bytes_are_an_account_only_if_they_are_the_one_spelling_of_a_useful_point(bytes in any::<[u8; 32]>()) {
        let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes);
        let expected = key.is_ok_and(|key| !key.is_weak() && key.to_edwards().compress().to_bytes() == bytes);
        let address = bs58::encode(bytes).into_string();
        prop_assert_eq!(SolanaVerifier.recognize(&address, None).len(), usize::from(expected));
    }
}
