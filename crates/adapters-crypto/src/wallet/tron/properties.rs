//! Rules that hold for every key, text and signature, and the reasons for the refusals.

use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{Verdict, WalletVerifier};
use k256::ecdsa::SigningKey;
use proptest::prelude::*;

use super::{CHAIN, CHAIN_IN_HEX, PREFIX, TronVerifier, judge};
use crate::DemoWallet;
use crate::wallet::secp256k1::{keccak_of_key, keccak_of_prefixed};
use crate::wallet::testing::{no_scalars, spellings, verdict, with_changed_byte, with_high_s};

const TEXT: &str = "auth.example wants you to sign in with your Tron account";

/// A key with its account.
#[derive(Clone, Debug)]
struct Wallet(SigningKey);

impl Wallet {
    fn bytes(&self) -> [u8; 20] {
        keccak_of_key(self.0.verifying_key())
    }

    fn address(&self) -> String {
        address_of(0x41, &self.bytes())
    }

    fn sign(&self, text: &str) -> [u8; 65] {
        let digest = keccak_of_prefixed(PREFIX, text.as_bytes());
        let (scalars, recovery) = self.0.sign_prehash_recoverable(&digest);
        let mut bytes = [27 + u8::from(recovery.is_y_odd()); 65];
        bytes[..64].copy_from_slice(&scalars.to_bytes());
        bytes
    }

    fn verdict(&self, text: &str, signature: &[u8]) -> Verdict {
        verdict(&self.address(), text, &hex::encode(signature))
    }

    fn is_valid(&self, text: &str, signature: &[u8]) -> bool {
        matches!(self.verdict(text, signature), Verdict::Valid(_))
    }
}

fn address_of(version: u8, bytes: &[u8]) -> String {
    bs58::encode(bytes).with_check_version(version).into_string()
}

fn wallet() -> Wallet {
    Wallet(SigningKey::from_slice(&[0x42; 32]).unwrap())
}

#[test]
fn either_name_of_the_main_network_means_the_same_account() {
    let address = wallet().address();
    let recognized = TronVerifier.recognize(&address, None);
    assert_eq!(recognized[0].account.caip10(), format!("tron:728126428:{address}"));
    for chain in [CHAIN, CHAIN_IN_HEX] {
        assert_eq!(TronVerifier.recognize(&address, Some(chain)), recognized, "{chain}");
    }
    for chain in ["tron", "tron:", "tron:mainnet", "tron:0x2B6653DC", "tron:0728126428", "tron:3448148188"] {
        assert_eq!(TronVerifier.recognize(&address, Some(chain)), [], "{chain}");
    }
}

#[test]
fn b_021_of_all_recovery_bytes_two_spellings_of_one_parity_are_good() {
    let wallet = wallet();
    let mut bytes = wallet.sign(TEXT);
    let right = bytes[64];
    for v in 0..=u8::MAX {
        bytes[64] = v;
        assert_eq!(wallet.is_valid(TEXT, &bytes), v == right || v == right - 27, "{v}");
    }
}

#[test]
fn b_022_scalars_of_zero_beyond_the_order_or_of_no_point_are_refused() {
    let wallet = wallet();
    let good = wallet.sign(TEXT);
    for scalar in no_scalars() {
        for position in [0, 32] {
            let mut bytes = good;
            bytes[position..position + 32].copy_from_slice(&scalar);
            let expected = Verdict::Invalid("r or s is zero, or not below the order of the group");
            assert_eq!(wallet.verdict(TEXT, &bytes), expected);
        }
    }
    // No point of secp256k1 has 5 as its x.
    let mut bytes = good;
    bytes[..31].fill(0);
    bytes[31] = 5;
    assert_eq!(wallet.verdict(TEXT, &bytes), Verdict::Invalid("no key could have made it"));
}

#[test]
fn b_017_b_034_the_same_key_is_not_the_same_account_on_ethereum_and_its_signatures_do_not_cross() {
    let tron = wallet();
    let ethereum = DemoWallet::from_bytes(tron.0.to_bytes().into()).unwrap();
    assert_eq!(format!("0x{}", hex::encode(tron.bytes())), ethereum.address().to_lowercase());
    let on_ethereum = |signature: &str| verdict(&ethereum.address(), TEXT, signature);
    assert!(matches!(on_ethereum(&ethereum.sign(TEXT)), Verdict::Valid(_)));
    assert!(!matches!(on_ethereum(&hex::encode(tron.sign(TEXT))), Verdict::Valid(_)));
    assert!(!tron.is_valid(TEXT, &hex::decode(&ethereum.sign(TEXT)[2..]).unwrap()));
}

#[test]
fn b_027_an_account_that_recognizing_would_not_give_is_refused_with_its_own_reason() {
    let wallet = wallet();
    let account = TronVerifier.recognize(&wallet.address(), None).remove(0).account;
    let signature = hex::encode(wallet.sign(TEXT));
    let judged = |account: WalletAccount| {
        judge(&WalletProof { account, kind: None, text: TEXT.to_owned(), signature: signature.clone() })
    };
    assert_eq!(judged(account.clone()), Ok(()));
    let not_tron = Err("the account is not of the Tron family");
    assert_eq!(judged(WalletAccount { family: "eip155".to_owned(), ..account.clone() }), not_tron);
    for chain in ["", "tron:", CHAIN_IN_HEX, "eip155:728126428"] {
        assert_eq!(judged(WalletAccount { chain: chain.to_owned(), ..account.clone() }), not_tron, "{chain}");
    }
    let no_address = Err("the account's address is not valid");
    for address in [account.address.to_lowercase(), address_of(0x41, &[0; 20]), String::new()] {
        assert_eq!(judged(WalletAccount { address, ..account.clone() }), no_address);
    }
}

#[test]
fn b_031_b_033_what_only_looks_like_an_address_is_refused() {
    let wallet = wallet();
    let (address, bytes) = (wallet.address(), wallet.bytes());
    let refused = [
        String::new(),
        "T".repeat(34),
        address.to_lowercase(),
        address.to_uppercase(),
        address.replacen('T', "Т", 1),
        format!("{address}1"),
        format!("1{address}"),
        format!("{address} "),
        format!("{}é", &address[..32]),
        format!("tron:728126428:{address}"),
        format!("41{}", hex::encode(bytes)),
        address_of(0x41, &[0; 20]),
        address_of(0x41, &bytes[..19]),
        address_of(0x41, &[&bytes[..], &[0]].concat()),
        address_of(0xa0, &bytes),
        address_of(0x00, &bytes),
        "T".repeat(1 << 20),
    ];
    for text in refused {
        assert_eq!(TronVerifier.recognize(&text, None), [], "{:.80}", text);
    }
}

#[test]
fn hints_are_for_tron_accounts_only() {
    let account = TronVerifier.recognize(&wallet().address(), None).remove(0).account;
    assert_eq!(TronVerifier.signing_hints(&account).len(), 2);
    assert_eq!(TronVerifier.signing_hints(&WalletAccount { family: "eip155".to_owned(), ..account }), []);
}

fn any_wallet() -> impl Strategy<Value = Wallet> {
    any::<[u8; 32]>()
        .prop_filter_map("not every value is a key", |key| Some(Wallet(SigningKey::from_slice(&key).ok()?)))
}

proptest! {
    #[test]
    fn whatever_a_wallet_signs_is_valid(wallet in any_wallet(), text in ".{0,200}") {
        let signature = wallet.sign(&text);
        for spelling in spellings(&signature) {
            prop_assert!(matches!(verdict(&wallet.address(), &text, &spelling), Verdict::Valid(_)));
        }
    }

    #[test]
    fn every_address_has_34_characters_and_one_spelling(wallet in any_wallet(), position in any::<prop::sample::Index>(), character in any::<char>()) {
        let address = wallet.address();
        prop_assert_eq!(&TronVerifier.recognize(&address, None)[0].account.address, &address);
        let mut characters: Vec<char> = address.chars().collect();
        let position = position.index(characters.len());
        prop_assume!(characters[position] != character);
        characters[position] = character;
        let changed: String = characters.into_iter().collect();
        prop_assert_eq!(TronVerifier.recognize(&changed, None), []);
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
        prop_assert!(!wallet.is_valid(&changed, &signature));
    }

    #[test]
    fn b_005_another_wallets_signature_is_refused(one in any_wallet(), other in any_wallet()) {
        prop_assume!(one.address() != other.address());
        prop_assert!(!one.is_valid(TEXT, &other.sign(TEXT)));
    }

    #[test]
    fn a_signature_with_one_changed_byte_is_refused(
        wallet in any_wallet(),
        text in "[ -~\n]{0,200}",
        position in 0_usize..65,
        change in 1_u8..=255,
    ) {
        let mut bytes = wallet.sign(&text);
        bytes[position] ^= change;
        // 27 means the same as 0, and 28 the same as 1.
        prop_assume!(position != 64 || bytes[64] > 1);
        prop_assert!(!wallet.is_valid(&text, &bytes));
    }

    #[test]
    fn b_022_high_s_is_refused_whoever_signed(wallet in any_wallet(), v in prop::sample::select(vec![0_u8, 1, 27, 28])) {
        let high = [&with_high_s(&wallet.sign(TEXT)[..64])[..], &[v]].concat();
        prop_assert_eq!(wallet.verdict(TEXT, &high), Verdict::Invalid("s is in the upper half of the order"));
    }

    #[test]
    fn b_024_other_lengths_are_refused(wallet in any_wallet(), length in 0_usize..200) {
        prop_assume!(length != 65);
        let bytes: Vec<u8> = wallet.sign(TEXT).into_iter().cycle().take(length).collect();
        for spelling in spellings(&bytes) {
            let expected = Verdict::Invalid("it is not 65 bytes in hex, base64 or base64url");
            prop_assert_eq!(verdict(&wallet.address(), TEXT, &spelling), expected);
        }
    }

    #[test]
    fn any_text_at_all_gets_a_verdict(address in ".{0,60}", text in ".{0,60}", signature in ".{0,140}") {
        prop_assert!(!matches!(verdict(&address, &text, &signature), Verdict::Valid(_)));
        prop_assert!(!matches!(verdict(&wallet().address(), &text, &signature), Verdict::Valid(_)));
    }
}
