//! Rules that hold for every wallet, text and signature, and the reasons for the refusals.

use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{Verdict, WalletVerifier};
use proptest::prelude::*;

use super::{EthereumVerifier, Judged, NOBODY_TO_ASK, judge, spelling};
use crate::wallet::testing::{self, is_valid, spellings, verdict, with_changed_byte};
use crate::{DemoWallet, WalletRouter};

const TEXT: &str = "auth.example wants you to sign in with your Ethereum account";

fn wallet() -> DemoWallet {
    DemoWallet::from_bytes([0x42; 32]).unwrap()
}

fn signature(wallet: &DemoWallet, text: &str) -> [u8; 65] {
    hex::decode(&wallet.sign(text)[2..]).unwrap().try_into().unwrap()
}

/// The other signature of the same key over the same text, which anyone can compute.
fn with_high_s(signature: [u8; 65]) -> [u8; 65] {
    let mut bytes = [0; 65];
    bytes[..64].copy_from_slice(&testing::with_high_s(&signature[..64]));
    bytes[64] = if signature[64] == 27 { 28 } else { 27 };
    bytes
}

#[test]
fn p_06_each_spelling_of_a_good_signature_is_good() {
    let wallet = wallet();
    for spelling in spellings(&signature(&wallet, TEXT)) {
        assert!(is_valid(&wallet.address(), TEXT, &spelling), "{spelling}");
    }
}

#[test]
fn b_021_of_all_recovery_bytes_two_spellings_of_one_parity_are_good() {
    let wallet = wallet();
    let mut bytes = signature(&wallet, TEXT);
    let right = bytes[64];
    for v in 0..=u8::MAX {
        bytes[64] = v;
        let expected = v == right || v == right - 27;
        assert_eq!(is_valid(&wallet.address(), TEXT, &hex::encode(bytes)), expected, "{v}");
    }
}

#[test]
fn b_022_high_s_is_refused_in_every_spelling_and_with_either_parity() {
    let wallet = wallet();
    let mut high = with_high_s(signature(&wallet, TEXT));
    for v in [0, 1, 27, 28] {
        high[64] = v;
        for spelling in spellings(&high) {
            let expected = Verdict::Invalid("s is in the upper half of the order");
            assert_eq!(verdict(&wallet.address(), TEXT, &spelling), expected, "{spelling}");
        }
    }
}

#[test]
fn b_022_scalars_of_zero_or_beyond_the_order_are_refused() {
    let order = hex::decode("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").unwrap();
    let good = signature(&wallet(), TEXT);
    for scalar in [[0; 32].to_vec(), order, [0xff; 32].to_vec()] {
        for position in [0, 32] {
            let mut bytes = good;
            bytes[position..position + 32].copy_from_slice(&scalar);
            let expected = Verdict::Invalid("r or s is zero, or not below the order of the group");
            assert_eq!(verdict(&wallet().address(), TEXT, &hex::encode(bytes)), expected);
        }
    }
}

#[test]
fn b_022_an_r_that_is_no_point_is_refused() {
    // No point of secp256k1 has 5 as its x.
    let mut bytes = signature(&wallet(), TEXT);
    bytes[..32].copy_from_slice(&[0; 32]);
    bytes[31] = 5;
    let expected = Verdict::Invalid("no key could have made it");
    assert_eq!(verdict(&wallet().address(), TEXT, &hex::encode(bytes)), expected);
}

#[test]
fn b_025_bitcoins_order_with_the_header_first_is_refused() {
    let wallet = wallet();
    let good = signature(&wallet, TEXT);
    for header in 0..=u8::MAX {
        let bytes = [&[header], &good[..64]].concat();
        for spelling in spellings(&bytes) {
            assert!(!is_valid(&wallet.address(), TEXT, &spelling), "{header}");
        }
    }
}

#[test]
fn b_023_b_024_other_lengths_are_refused() {
    let wallet = wallet();
    let good = signature(&wallet, TEXT);
    for length in [1, 63, 64, 66, 130, 1 << 10, 1 << 20] {
        let bytes: Vec<u8> = good.iter().copied().cycle().take(length).collect();
        let is_long = length > spelling::MAX_LENGTH;
        let expected = Verdict::Invalid(if is_long { "it is longer than 16 KiB" } else { NOBODY_TO_ASK });
        for spelling in spellings(&bytes) {
            assert_eq!(verdict(&wallet.address(), TEXT, &spelling), expected, "{length}");
        }
    }
}

#[test]
fn b_005_another_wallets_signature_is_refused_both_ways() {
    let (one, other) = (wallet(), DemoWallet::from_bytes([0x43; 32]).unwrap());
    assert!(!is_valid(&one.address(), TEXT, &other.sign(TEXT)));
    assert!(!is_valid(&other.address(), TEXT, &one.sign(TEXT)));
}

#[test]
fn b_027_an_account_that_recognizing_would_not_give_is_refused_with_its_own_reason() {
    let wallet = wallet();
    let account = EthereumVerifier::offline().recognize(&wallet.address(), None).remove(0).account;
    let judged = |account: WalletAccount| match judge(&WalletProof {
        account,
        kind: None,
        text: TEXT.to_owned(),
        signature: wallet.sign(TEXT),
    }) {
        Judged::Valid => Ok(()),
        Judged::Invalid(reason) => Err(reason),
        Judged::NotAKeys(question) => panic!("{question:?} is the key's"),
    };
    assert_eq!(judged(account.clone()), Ok(()));
    let not_ethereum = Err("the account is not of the Ethereum family");
    assert_eq!(judged(WalletAccount { family: "solana".to_owned(), ..account.clone() }), not_ethereum);
    for chain in
        ["solana:5", "eip155:", "eip155:0", "eip155:01", "eip155:+1", "eip155:18446744073709551616", ""]
    {
        assert_eq!(
            judged(WalletAccount { chain: chain.to_owned(), ..account.clone() }),
            not_ethereum,
            "{chain}"
        );
    }
    assert_eq!(judged(WalletAccount { chain: "eip155:8453".to_owned(), ..account.clone() }), Ok(()));
    let not_canonical = Err("the account's address is not in its canonical form");
    for address in [account.address.to_lowercase(), format!("0x{}", "0".repeat(40)), String::new()] {
        assert_eq!(judged(WalletAccount { address, ..account.clone() }), not_canonical);
    }
}

#[test]
fn b_030_three_spellings_of_an_address_are_one_account() {
    let address = wallet().address();
    let digits = &address[2..];
    let router = WalletRouter::standard();
    let account =
        WalletAccount { family: "eip155".to_owned(), chain: "eip155:1".to_owned(), address: address.clone() };
    for spelling in
        [&address, &format!("0x{}", digits.to_lowercase()), &format!("0x{}", digits.to_uppercase())]
    {
        let recognized = router.recognize(spelling, None).remove(0);
        assert_eq!(
            (recognized.account, recognized.kind.as_ref()),
            (account.clone(), "Ethereum"),
            "{spelling}"
        );
        assert!(is_valid(spelling, TEXT, &wallet().sign(TEXT)), "{spelling}");
    }
}

#[test]
fn b_031_b_032_what_only_looks_like_an_address_is_refused() {
    let address = wallet().address();
    let digits = &address[2..];
    let lower = address.to_lowercase();
    let refused = [
        String::new(),
        "0x".to_owned(),
        digits.to_owned(),
        format!("0X{digits}"),
        format!("0x0x{digits}"),
        format!("0x{}", &digits[1..]),
        format!("{address}0"),
        format!("{address}00"),
        format!("0x{}", "0".repeat(40)),
        format!(" {address}"),
        format!("{address}\n"),
        format!("{address}\t"),
        format!("{address}\0"),
        format!("\u{feff}{address}"),
        format!("{address}\u{200b}"),
        format!("0x\u{2066}{digits}"),
        // Cyrillic letters and full-width digits that look like Latin ones.
        lower.replacen('e', "е", 1),
        lower.replacen('0', "０", 1),
        format!("0x{}", digits.replacen('0', "０", 1)),
        format!("0x{}", digits.replacen('0', "О", 1)),
        lower.replacen('x', "х", 1),
        format!("eip155:1:{address}"),
        format!("ethereum:{address}"),
        "vitalik.eth".to_owned(),
        "XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS".to_owned(),
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa".to_owned(),
        "0x".repeat(21),
        "0".repeat(1 << 20),
    ];
    for text in refused {
        assert_ne!(text, lower);
        assert_eq!(
            EthereumVerifier::offline().recognize(&text, None).pop(),
            None,
            "{:?}",
            text.chars().take(80).collect::<String>()
        );
    }
}

fn any_wallet() -> impl Strategy<Value = DemoWallet> {
    any::<[u8; 32]>().prop_filter_map("not every value is a key", DemoWallet::from_bytes)
}

proptest! {
    #[test]
    fn whatever_a_wallet_signs_is_valid(wallet in any_wallet(), text in ".{0,200}") {
        prop_assert!(is_valid(&wallet.address(), &text, &wallet.sign(&text)));
    }

    #[test]
    fn a_text_with_one_changed_byte_is_refused(
        wallet in any_wallet(),
        text in "[ -~\n]{1,200}",
        position in any::<prop::sample::Index>(),
        change in 1_u8..128,
    ) {
        let signature = wallet.sign(&text);
        let changed = with_changed_byte(&text, position, change);
        prop_assert!(!is_valid(&wallet.address(), &changed, &signature));
    }

    #[test]
    fn a_text_that_is_longer_or_shorter_is_refused(wallet in any_wallet(), text in "[ -~\n]{1,200}", more in "[ -~\n\0]{1,9}") {
        let signature = wallet.sign(&text);
        let longer = text.clone() + &more;
        prop_assert!(!is_valid(&wallet.address(), &longer, &signature));
        prop_assert!(!is_valid(&wallet.address(), &text[1..], &signature));
    }

    #[test]
    fn a_signature_with_one_changed_byte_is_refused(
        wallet in any_wallet(),
        text in "[ -~\n]{0,200}",
        position in 0_usize..65,
        change in 1_u8..=255,
    ) {
        let mut bytes = signature(&wallet, &text);
        bytes[position] ^= change;
        // 27 means the same as 0, and 28 the same as 1.
        prop_assume!(position != 64 || bytes[64] > 1);
        for spelling in spellings(&bytes) {
            prop_assert!(!is_valid(&wallet.address(), &text, &spelling));
        }
    }

    #[test]
    fn b_024_the_text_of_a_signature_with_one_changed_character_is_refused(
        wallet in any_wallet(),
        position in any::<prop::sample::Index>(),
        character in any::<char>(),
    ) {
        let good = wallet.sign(TEXT);
        let mut characters: Vec<char> = good.chars().collect();
        let position = position.index(characters.len());
        prop_assume!(!characters[position].eq_ignore_ascii_case(&character));
        characters[position] = character;
        let changed: String = characters.into_iter().collect();
        prop_assert!(!is_valid(&wallet.address(), TEXT, &changed));
    }

    #[test]
    fn random_bytes_of_the_right_length_are_refused_and_never_panic(scalars in any::<[u8; 32]>(), more in any::<[u8; 33]>()) {
        let bytes = [&scalars[..], &more[..]].concat();
        prop_assert!(!is_valid(&wallet().address(), TEXT, &hex::encode(&bytes)));
    }

    #[test]
    fn any_text_at_all_gets_a_verdict(address in ".{0,60}", text in ".{0,60}", signature in ".{0,140}") {
        prop_assert!(!is_valid(&address, &text, &signature));
        prop_assert!(!is_valid(&wallet().address(), &text, &signature));
    }

    #[test]
    fn b_022_high_s_is_refused_whoever_signed(wallet in any_wallet()) {
        let high = with_high_s(signature(&wallet, TEXT));
        prop_assert!(!is_valid(&wallet.address(), TEXT, &hex::encode(high)));
    }

    #[test]
    fn b_029_one_letter_in_the_other_case_is_refused(wallet in any_wallet(), position in any::<prop::sample::Index>()) {
        let address = wallet.address();
        let letters: Vec<usize> =
            address.char_indices().skip(2).filter(|(_, digit)| digit.is_alphabetic()).map(|(at, _)| at).collect();
        let at = letters[position.index(letters.len())];
        let mut changed = address.clone().into_bytes();
        changed[at] ^= 0x20;
        let changed = String::from_utf8(changed).unwrap();
        // If no letter of the other case is left, there is no checksum that could be wrong.
        let digits = &changed[2..];
        prop_assume!(digits != digits.to_lowercase() && digits != digits.to_uppercase());
        prop_assert_eq!(WalletRouter::standard().recognize(&changed, None), []);
    }
}
