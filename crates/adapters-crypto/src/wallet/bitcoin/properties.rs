//! Rules that hold for every key, text and signature, and the reasons for BIP-137's refusals.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bitcoin::consensus::serialize;
use countersign_ports::WalletVerifier;
use proptest::prelude::*;

use super::signing::{COMPACT, KINDS, Kind, Wallet, full, judged, simple, usual_type, wallet};
use super::{Coin, CoinVerifier};
use crate::WalletRouter;
use crate::wallet::testing::{is_valid, spellings, with_changed_byte};

const TEXT: &str = "auth.example wants you to sign in with your Bitcoin account";

fn judge(kind: Kind, signature: &str) -> Result<(), &'static str> {
    let coin = Coin::bitcoin();
    judged(&coin, &wallet().address(kind, &coin), TEXT, signature)
}

fn compact(kind: Kind) -> [u8; 65] {
    wallet().compact(kind, &Coin::bitcoin(), TEXT)
}

/// The other signature of the same key over the same text, which anyone can compute.
fn with_high_s(mut signature: [u8; 65], first_header: u8) -> [u8; 65] {
    let s = bitcoin::secp256k1::SecretKey::from_slice(&signature[33..]).unwrap().negate();
    signature[33..].copy_from_slice(&s[..]);
    signature[0] = first_header + ((signature[0] - first_header) ^ 1);
    signature
}

#[test]
fn p_06_each_spelling_of_a_good_signature_is_good_for_every_coin() {
    for coin in Coin::standard() {
        for (kind, _) in COMPACT {
            if kind == Kind::Segwit && coin.hrp().is_none() {
                continue;
            }
            let address = wallet().address(kind, &coin);
            for spelling in spellings(&wallet().compact(kind, &coin, TEXT)) {
                assert_eq!(judged(&coin, &address, TEXT, &spelling), Ok(()), "{} {spelling}", coin.name());
            }
        }
    }
}

#[test]
fn b_035_of_all_headers_one_is_good() {
    for (kind, first) in COMPACT {
        let good = compact(kind);
        for header in 0..=u8::MAX {
            let mut bytes = good;
            bytes[0] = header;
            let verdict = judge(kind, &STANDARD.encode(bytes));
            let of_this_kind = match kind {
                Kind::Uncompressed | Kind::Compressed => 27..=34,
                Kind::Nested | Kind::Segwit | Kind::SegwitScript | Kind::Taproot => first..=first + 3,
            };
            if header == good[0] {
                assert_eq!(verdict, Ok(()), "{kind:?}");
            } else if !(27..=42).contains(&header) {
                let expected = Err("it has 65 bytes, but the first is not a BIP-137 header");
                assert_eq!(verdict, expected, "{kind:?} {header}");
            } else if !of_this_kind.contains(&header) {
                let expected = Err("it is a BIP-137 signature for another kind of address");
                assert_eq!(verdict, expected, "{kind:?} {header}");
            } else {
                assert!(verdict.is_err(), "{kind:?} {header}");
            }
        }
    }
}

#[test]
fn b_038_taproot_and_scripts_have_no_signatures_by_bip_137() {
    for (kind, _) in COMPACT {
        let signature = STANDARD.encode(compact(kind));
        let expected = Err("BIP-137 has no signatures for Taproot addresses; use BIP-322");
        assert_eq!(judge(Kind::Taproot, &signature), expected);
        let expected = Err("BIP-137 has no signatures for script addresses; use BIP-322");
        assert_eq!(judge(Kind::SegwitScript, &signature), expected);
    }
}

#[test]
fn b_022_high_s_is_refused_in_every_spelling() {
    for (kind, first) in COMPACT {
        for spelling in spellings(&with_high_s(compact(kind), first)) {
            assert_eq!(judge(kind, &spelling), Err("s is in the upper half of the order"), "{spelling}");
        }
    }
}

#[test]
fn b_022_scalars_out_of_range_are_refused() {
    let order = hex::decode("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").unwrap();
    let beyond = Err("r or s is not below the order of the group");
    let nobody = Err("no key could have made it");
    for (scalar, expected) in [(vec![0; 32], nobody), (order, beyond), (vec![0xff; 32], beyond)] {
        for position in [1, 33] {
            let mut bytes = compact(Kind::Compressed);
            bytes[position..position + 32].copy_from_slice(&scalar);
            assert_eq!(judge(Kind::Compressed, &hex::encode(bytes)), expected, "{position}");
        }
    }
    // No point of secp256k1 has 5 as its x.
    let mut bytes = compact(Kind::Compressed);
    bytes[1..33].copy_from_slice(&[0; 32]);
    bytes[32] = 5;
    assert_eq!(judge(Kind::Compressed, &hex::encode(bytes)), nobody);
}

#[test]
fn b_017_another_coins_message_is_refused() {
    for coin in Coin::standard() {
        let address = wallet().address(Kind::Compressed, &coin);
        for other in Coin::standard() {
            let signature = hex::encode(wallet().compact(Kind::Compressed, &other, TEXT));
            let expected =
                if other == coin { Ok(()) } else { Err("it was made by another key or for another text") };
            assert_eq!(judged(&coin, &address, TEXT, &signature), expected);
        }
    }
}

#[test]
fn b_024_other_lengths_and_garbage_are_refused_with_a_reason() {
    let neither = Err("it is neither 65 bytes (BIP-137) nor base64 (BIP-322)");
    for garbage in ["é", "0x", "=", "smp=", "ful🦀", "smp AUB6", " ", "A", "0xZ"] {
        assert_eq!(judge(Kind::Segwit, garbage), neither, "{garbage}");
    }
    for length in [0, 1, 64, 66, 130, 1 << 10, 1 << 20] {
        let bytes: Vec<u8> = compact(Kind::Segwit).into_iter().cycle().take(length).collect();
        for spelling in spellings(&bytes) {
            assert!(judge(Kind::Segwit, &spelling).is_err(), "{length}");
        }
    }
}

fn any_wallet() -> impl Strategy<Value = Wallet> {
    any::<[u8; 32]>().prop_filter_map("not every value is a key", Wallet::from_bytes)
}

fn any_compact() -> impl Strategy<Value = Kind> {
    any::<prop::sample::Index>().prop_map(|index| index.get(&COMPACT).0)
}

fn any_kind() -> impl Strategy<Value = Kind> {
    any::<prop::sample::Index>().prop_map(|index| *index.get(&KINDS))
}

fn any_coin() -> impl Strategy<Value = Coin> {
    any::<prop::sample::Index>().prop_map(|index| index.get(&Coin::standard()).clone())
}

/// A signature for this kind of address, in the form that wallets make, and as bytes.
fn sign(wallet: &Wallet, kind: Kind, text: &str) -> (String, Vec<u8>, &'static str) {
    match kind {
        Kind::Segwit | Kind::SegwitScript | Kind::Taproot => {
            let witness = wallet.witness(kind, text);
            (simple(&witness), serialize(&witness), "smp")
        }
        Kind::Uncompressed | Kind::Compressed | Kind::Nested => {
            let transaction = wallet.signed(kind, text, usual_type(kind), |_| {});
            (full(&transaction), serialize(&transaction), "ful")
        }
    }
}

proptest! {
    #[test]
    fn whatever_a_wallet_signs_by_bip_137_is_valid(wallet in any_wallet(), coin in any_coin(), text in ".{0,300}") {
        let address = wallet.address(Kind::Compressed, &coin);
        let signature = wallet.compact(Kind::Compressed, &coin, &text);
        prop_assert!(is_valid(&address, &text, &STANDARD.encode(signature)));
    }

    #[test]
    fn whatever_a_wallet_signs_by_bip_322_is_valid(wallet in any_wallet(), kind in any_kind(), text in ".{0,300}") {
        let address = wallet.address(kind, &Coin::bitcoin());
        prop_assert!(is_valid(&address, &text, &sign(&wallet, kind, &text).0));
        let transaction = wallet.signed(kind, &text, usual_type(kind), |_| {});
        prop_assert!(is_valid(&address, &text, &full(&transaction)));
    }

    #[test]
    fn b_001_a_text_with_one_changed_byte_is_refused(
        wallet in any_wallet(),
        kind in any_kind(),
        text in "[ -~\n]{1,200}",
        position in any::<prop::sample::Index>(),
        change in 1_u8..128,
    ) {
        let bitcoin = Coin::bitcoin();
        let address = wallet.address(kind, &bitcoin);
        let changed = with_changed_byte(&text, position, change);
        prop_assert!(!is_valid(&address, &changed, &sign(&wallet, kind, &text).0));
        let compact = STANDARD.encode(wallet.compact(Kind::Nested, &bitcoin, &text));
        prop_assert!(!is_valid(&wallet.address(Kind::Nested, &bitcoin), &changed, &compact));
    }

    #[test]
    fn a_bip_137_signature_with_one_changed_byte_is_refused(
        wallet in any_wallet(),
        kind in any_compact(),
        position in 0_usize..65,
        change in 1_u8..=255,
    ) {
        let coin = Coin::bitcoin();
        let mut bytes = wallet.compact(kind, &coin, TEXT);
        bytes[position] ^= change;
        for spelling in spellings(&bytes) {
            prop_assert!(!is_valid(&wallet.address(kind, &coin), TEXT, &spelling));
        }
    }

    #[test]
    fn a_bip_322_signature_with_one_changed_byte_is_refused(
        wallet in any_wallet(),
        kind in any_kind(),
        position in any::<prop::sample::Index>(),
        change in 1_u8..=255,
    ) {
        let (_, mut bytes, prefix) = sign(&wallet, kind, TEXT);
        let position = position.index(bytes.len());
        bytes[position] ^= change;
        let signature = format!("{prefix}{}", STANDARD.encode(bytes));
        prop_assert!(!is_valid(&wallet.address(kind, &Coin::bitcoin()), TEXT, &signature), "{position}");
    }

    #[test]
    fn b_024_a_signature_with_one_changed_character_is_refused(
        wallet in any_wallet(),
        kind in any_kind(),
        position in any::<prop::sample::Index>(),
        character in any::<char>(),
    ) {
        let (good, ..) = sign(&wallet, kind, TEXT);
        let mut characters: Vec<char> = good.chars().collect();
        let position = position.index(characters.len());
        prop_assume!(characters[position] != character);
        characters[position] = character;
        let changed: String = characters.into_iter().collect();
        prop_assert!(!is_valid(&wallet.address(kind, &Coin::bitcoin()), TEXT, &changed), "{position}");
    }

    #[test]
    fn b_005_b_027_another_wallets_signature_is_refused(one in any_wallet(), other in any_wallet(), kind in any_kind()) {
        let bitcoin = Coin::bitcoin();
        prop_assume!(one.address(kind, &bitcoin) != other.address(kind, &bitcoin));
        prop_assert!(!is_valid(&one.address(kind, &bitcoin), TEXT, &sign(&other, kind, TEXT).0));
        let compact = other.compact(Kind::Compressed, &bitcoin, TEXT);
        prop_assert!(!is_valid(&one.address(Kind::Compressed, &bitcoin), TEXT, &hex::encode(compact)));
    }

    #[test]
    fn b_031_an_address_with_one_changed_character_is_no_other_account(
        wallet in any_wallet(),
        coin in any_coin(),
        kind in any_compact(),
        position in any::<prop::sample::Index>(),
        character in any::<char>(),
    ) {
        prop_assume!(kind != Kind::Segwit || coin.hrp().is_some());
        let address = wallet.address(kind, &coin);
        let mut characters: Vec<char> = address.chars().collect();
        let position = position.index(characters.len());
        prop_assume!(characters[position] != character);
        characters[position] = character;
        let changed: String = characters.into_iter().collect();
        prop_assert_eq!(WalletRouter::standard().recognize(&changed, None), []);
        prop_assert_eq!(CoinVerifier::new(coin.clone()).recognize(&changed, Some(coin.chain())), []);
    }

    #[test]
    fn random_bytes_are_refused_in_every_form(
        kind in any_kind(),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        items in 0_u8..4,
    ) {
        let with_count = [&[items], bytes.as_slice()].concat();
        for bytes in [bytes, with_count] {
            let text = STANDARD.encode(&bytes);
            for signature in [format!("smp{text}"), format!("ful{text}"), format!("ful00000000{text}"), text] {
                prop_assert!(judge(kind, &signature).is_err());
            }
        }
    }

    #[test]
    fn any_text_at_all_gets_a_verdict(
        kind in any_kind(),
        coin in any_coin(),
        address in ".{0,90}",
        text in ".{0,60}",
        prefix in "(smp|ful|pof|0x|)",
        signature in ".{0,140}",
    ) {
        let signature = prefix + &signature;
        prop_assert!(!is_valid(&address, &text, &signature));
        prop_assert!(judged(&coin, &address, &text, &signature).is_err());
        prop_assert!(judge(kind, &signature).is_err());
    }

    #[test]
    fn any_text_at_all_is_a_coin_or_is_refused(
        text in r#"(( |name|chain|magic|p2pkh|p2sh|hrp|=|"|\\|n|,|é|[0-9]{1,4}|[a-z:]{1,9})){0,40}"#,
        other in ".{0,60}",
    ) {
        prop_assert!(Coin::parse(&other).is_err());
        if let Err(reason) = Coin::parse(&text) {
            prop_assert!(!reason.to_string().is_empty());
        }
    }
}
