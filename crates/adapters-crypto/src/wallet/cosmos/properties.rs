//! Rules that hold for every key, chain, text and signature, and the reasons for the refusals.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bech32::{Bech32, Bech32m, Hrp};
use bitcoin::hashes::{Hash, hash160};
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{Verdict, WalletVerifier};
use k256::ecdsa::{Signature, SigningKey};
use proptest::prelude::*;
use serde_json::json;

use super::chains::{CHAINS, Chain, NAMESPACE};
use super::{CosmosVerifier, adr036, judge};
use crate::wallet::testing::{no_scalars, spellings, verdict_on, with_changed_byte, with_high_s};

const TEXT: &str = "auth.example wants you to sign in with your Cosmos account";

/// A key with an account on some chain.
#[derive(Clone, Debug)]
struct Wallet {
    key: SigningKey,
    chain: &'static Chain,
}

impl Wallet {
    fn new(key: [u8; 32], chain: &'static Chain) -> Self {
        Self { key: SigningKey::from_slice(&key).unwrap(), chain }
    }

    fn public_key(&self) -> Vec<u8> {
        self.key.verifying_key().to_sec1_point(true).as_bytes().to_vec()
    }

    fn key_hash(&self) -> [u8; 20] {
        hash160::Hash::hash(&self.public_key()).to_byte_array()
    }

    fn address(&self) -> String {
        address_of(self.chain.prefix, &self.key_hash())
    }

    fn sign(&self, text: &str) -> Vec<u8> {
        let digest = adr036::digest(&self.address(), text);
        self.key.sign_prehash_recoverable(&digest).0.to_bytes().to_vec()
    }

    /// The whole answer of `signArbitrary` with this signature.
    fn answer(&self, signature: &[u8]) -> String {
        let key = STANDARD.encode(self.public_key());
        let pub_key = json!({ "type": "tendermint/PubKeySecp256k1", "value": key });
        json!({ "pub_key": pub_key, "signature": STANDARD.encode(signature) }).to_string()
    }

    fn verdict(&self, text: &str, signature: &str) -> Verdict {
        verdict_on(self.chain.id, &self.address(), text, signature)
    }

    fn is_valid(&self, text: &str, signature: &str) -> bool {
        matches!(self.verdict(text, signature), Verdict::Valid(_))
    }
}

fn address_of(prefix: &str, bytes: &[u8]) -> String {
    bech32::encode::<Bech32>(Hrp::parse(prefix).unwrap(), bytes).unwrap()
}

fn wallet() -> Wallet {
    Wallet::new([0x42; 32], &CHAINS[0])
}

#[test]
fn every_chain_of_the_list_can_sign_in_and_is_listed_once() {
    let mut ids = HashSet::new();
    for chain in &CHAINS {
        let wallet = Wallet::new([7; 32], chain);
        let recognized = CosmosVerifier.recognize(&wallet.address(), Some(chain.id)).remove(0);
        assert_eq!((recognized.kind.as_ref(), recognized.chain_id.as_str()), (chain.kind, chain.reference()));
        assert_eq!(recognized.account.family, chain.id, "one key is a different person on every chain");
        assert!(wallet.is_valid(TEXT, &wallet.answer(&wallet.sign(TEXT))), "{chain:?}");
        assert!(ids.insert(chain.id), "{chain:?} is listed twice");
        // The characters that CAIP-2 allows in a reference and that may appear in a challenge.
        let reference = chain.id.strip_prefix(NAMESPACE).unwrap();
        assert!((1..=32).contains(&reference.len()) && !reference.starts_with("hashed-"), "{chain:?}");
        assert!(reference.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-'), "{chain:?}");
        assert!(chain.kind.is_ascii() && chain.prefix == chain.prefix.to_lowercase(), "{chain:?}");
    }
}

#[test]
fn an_address_that_two_chains_share_means_an_account_on_either_and_the_chain_chooses() {
    let terra = CHAINS.iter().find(|chain| chain.prefix == "terra").unwrap();
    let address = Wallet::new([7; 32], terra).address();
    let chains = |named| {
        let recognized = CosmosVerifier.recognize(&address, named);
        recognized.into_iter().map(|recognized| recognized.account.chain).collect::<Vec<_>>()
    };
    assert_eq!(chains(None), ["cosmos:phoenix-1", "cosmos:columbus-5"]);
    assert_eq!(chains(Some("cosmos:columbus-5")), ["cosmos:columbus-5"]);
    assert!(chains(Some("cosmos:cosmoshub-4")).is_empty());
}

#[test]
fn p_06_each_spelling_of_a_good_signature_is_good() {
    let wallet = wallet();
    let signature = wallet.sign(TEXT);
    for spelling in spellings(&signature).into_iter().chain([wallet.answer(&signature)]) {
        assert!(wallet.is_valid(TEXT, &spelling), "{spelling}");
    }
}

#[test]
fn b_022_scalars_of_zero_beyond_the_order_or_of_no_point_are_refused() {
    let wallet = wallet();
    let good = wallet.sign(TEXT);
    for scalar in no_scalars() {
        for position in [0, 32] {
            let mut bytes = good.clone();
            bytes[position..position + 32].copy_from_slice(&scalar);
            let expected = Verdict::Invalid("r or s is zero, or not below the order of the group");
            assert_eq!(wallet.verdict(TEXT, &hex::encode(bytes)), expected);
        }
    }
    // No point of secp256k1 has 5 as its x.
    let mut bytes = good;
    bytes[..31].fill(0);
    bytes[31] = 5;
    let expected = Verdict::Invalid("no key could have made it");
    assert_eq!(wallet.verdict(TEXT, &hex::encode(bytes)), expected);
}

#[test]
fn the_whole_answer_is_refused_with_a_reason_of_its_own() {
    let wallet = wallet();
    let answer = wallet.answer(&wallet.sign(TEXT));
    let other = Wallet::new([0x43; 32], &CHAINS[0]);
    let changed = |from: &str, to: &str| {
        assert!(answer.contains(from));
        answer.replacen(from, to, 1)
    };
    let base64_key = STANDARD.encode(wallet.public_key());
    let refused = [
        (
            changed("tendermint/", "ethermint/"),
            "the type of its public key is not tendermint/PubKeySecp256k1",
        ),
        (changed(&base64_key, &STANDARD.encode(other.public_key())), "its public key is not the account's"),
        (changed(&base64_key, ""), "its public key is not the account's"),
        (changed(&base64_key, "é"), "its public key is not the account's"),
        (changed("\"}", "=\"}"), "its public key is not the account's"),
        (wallet.answer(&wallet.sign(TEXT)[..63]), "its signature is not 64 bytes in base64"),
        (wallet.answer(&other.sign(TEXT)), "it was made by another key or for another text"),
        (changed("{", "{\"chain_id\":\"\","), "it is not JSON in the form that wallets return"),
        (changed("pub_key", "pubkey"), "it is not JSON in the form that wallets return"),
        (answer.clone() + "}", "it is not JSON in the form that wallets return"),
        ("{".to_owned(), "it is not JSON in the form that wallets return"),
        ("{".repeat(1024), "it is not JSON in the form that wallets return"),
        ("{".repeat(1 << 20), "it is longer than 1 KiB"),
        (changed("{", &format!("{{{}", " ".repeat(1024))), "it is longer than 1 KiB"),
    ];
    for (text, reason) in refused {
        assert_eq!(wallet.verdict(TEXT, &text), Verdict::Invalid(reason), "{:.300}", text);
    }
}

#[test]
fn b_027_an_account_that_recognizing_would_not_give_is_refused_with_its_own_reason() {
    let wallet = wallet();
    let account = CosmosVerifier.recognize(&wallet.address(), None).remove(0).account;
    let signature = hex::encode(wallet.sign(TEXT));
    let judged = |account: WalletAccount| {
        judge(&WalletProof { account, kind: None, text: TEXT.to_owned(), signature: signature.clone() })
    };
    assert_eq!(judged(account.clone()), Ok(()));
    let unknown = Err("the account is not on a Cosmos chain that we know");
    for chain in ["", "cosmos:", "cosmoshub-4", "cosmos:cosmoshub-3", "cosmos:COSMOSHUB-4", "eip155:1"] {
        assert_eq!(judged(WalletAccount { chain: chain.to_owned(), ..account.clone() }), unknown, "{chain}");
    }
    let not_canonical = Err("the account's address is not in its canonical form");
    assert_eq!(
        judged(WalletAccount { chain: "cosmos:osmosis-1".to_owned(), ..account.clone() }),
        not_canonical
    );
    assert_eq!(judged(WalletAccount { family: "cosmos".to_owned(), ..account.clone() }), not_canonical);
    for address in [account.address.to_uppercase(), address_of("osmo", &wallet.key_hash()), String::new()] {
        assert_eq!(judged(WalletAccount { address, ..account.clone() }), not_canonical);
    }
}

#[test]
fn b_031_b_033_what_only_looks_like_an_address_is_refused() {
    let wallet = wallet();
    let (address, hash) = (wallet.address(), wallet.key_hash());
    let refused = [
        String::new(),
        "cosmos1".to_owned(),
        "1".to_owned(),
        address.replacen("cosmos", "Cosmos", 1),
        address.replacen("cosmos", "COSMOS", 1),
        address.replacen('c', "с", 1),
        address.replacen('1', "１", 1),
        address.replacen("cosmos", "osmo", 1),
        format!("{address}q"),
        format!("{address} "),
        format!("\u{feff}{address}"),
        format!("cosmos:cosmoshub-4:{address}"),
        bech32::encode::<Bech32m>(Hrp::parse("cosmos").unwrap(), &hash).unwrap(),
        address_of("cosmos", &[7; 32]),
        address_of("cosmos", &hash[..19]),
        address_of("cosmos", &[&hash[..], &[0]].concat()),
        address_of("cosmosvaloper", &hash),
        address_of("inj", &hash),
        address_of("bc", &hash),
        "1".repeat(1 << 20),
    ];
    for text in refused {
        assert_eq!(CosmosVerifier.recognize(&text, None), [], "{:.80}", text);
    }
}

#[test]
fn hints_say_the_chain_and_the_account_and_nothing_to_other_families() {
    let account = CosmosVerifier.recognize(&wallet().address(), None).remove(0).account;
    let hints = CosmosVerifier.signing_hints(&account);
    assert!(
        hints.iter().all(|hint| hint.how.contains("\"cosmoshub-4\"") && hint.how.contains(&account.address))
    );
    assert_eq!(hints.len(), 2);
    let other = WalletAccount { family: "eip155".to_owned(), chain: "eip155:1".to_owned(), ..account };
    assert_eq!(CosmosVerifier.signing_hints(&other), []);
}

fn any_wallet() -> impl Strategy<Value = Wallet> {
    (any::<[u8; 32]>(), 0..CHAINS.len()).prop_filter_map("not every value is a key", |(key, chain)| {
        Some(Wallet { key: SigningKey::from_slice(&key).ok()?, chain: &CHAINS[chain] })
    })
}

proptest! {
    #[test]
    fn whatever_a_wallet_signs_is_valid(wallet in any_wallet(), text in ".{0,200}") {
        let signature = wallet.sign(&text);
        prop_assert!(wallet.is_valid(&text, &STANDARD.encode(&signature)));
        prop_assert!(wallet.is_valid(&text, &wallet.answer(&signature)));
    }

    #[test]
    fn b_030_upper_case_is_the_same_account(wallet in any_wallet()) {
        let lower = CosmosVerifier.recognize(&wallet.address(), Some(wallet.chain.id));
        prop_assert_eq!(&lower[0].account.address, &wallet.address());
        prop_assert_eq!(CosmosVerifier.recognize(&wallet.address().to_uppercase(), Some(wallet.chain.id)), lower);
    }

    #[test]
    fn b_033_one_letter_in_the_other_case_is_refused(wallet in any_wallet(), position in any::<prop::sample::Index>()) {
        let address = wallet.address();
        let letters: Vec<usize> =
            address.char_indices().filter(|(_, letter)| letter.is_alphabetic()).map(|(at, _)| at).collect();
        let mut changed = address.into_bytes();
        changed[letters[position.index(letters.len())]] ^= 0x20;
        let changed = String::from_utf8(changed).unwrap();
        prop_assert_eq!(CosmosVerifier.recognize(&changed, None), []);
    }

    #[test]
    fn an_address_with_one_changed_character_is_refused(
        wallet in any_wallet(),
        position in any::<prop::sample::Index>(),
        character in any::<char>(),
    ) {
        let mut characters: Vec<char> = wallet.address().chars().collect();
        let position = position.index(characters.len());
        prop_assume!(characters[position] != character);
        characters[position] = character;
        let changed: String = characters.into_iter().collect();
        prop_assert_eq!(CosmosVerifier.recognize(&changed, None), []);
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
        prop_assert!(!wallet.is_valid(&changed, &hex::encode(&signature)));
        prop_assert!(!wallet.is_valid(&changed, &wallet.answer(&signature)));
    }

    #[test]
    fn b_005_another_wallets_signature_is_refused(one in any_wallet(), other in any_wallet()) {
        prop_assume!(one.address() != other.address());
        prop_assert!(!one.is_valid(TEXT, &hex::encode(other.sign(TEXT))));
        prop_assert!(!one.is_valid(TEXT, &one.answer(&other.sign(TEXT))));
        prop_assert!(!one.is_valid(TEXT, &other.answer(&other.sign(TEXT))));
    }

    #[test]
    fn the_same_keys_signature_for_another_chain_is_refused(wallet in any_wallet(), chain in 0..CHAINS.len()) {
        let elsewhere = Wallet { chain: &CHAINS[chain], ..wallet.clone() };
        prop_assume!(elsewhere.chain.prefix != wallet.chain.prefix);
        prop_assert!(!wallet.is_valid(TEXT, &hex::encode(elsewhere.sign(TEXT))));
    }

    #[test]
    fn a_signature_with_one_changed_byte_is_refused(
        wallet in any_wallet(),
        text in "[ -~\n]{0,200}",
        position in 0_usize..64,
        change in 1_u8..=255,
    ) {
        let mut bytes = wallet.sign(&text);
        bytes[position] ^= change;
        for spelling in spellings(&bytes).into_iter().chain([wallet.answer(&bytes)]) {
            prop_assert!(!wallet.is_valid(&text, &spelling));
        }
    }

    #[test]
    fn b_024_an_answer_with_one_changed_character_is_refused(
        wallet in any_wallet(),
        position in any::<prop::sample::Index>(),
        character in any::<char>(),
    ) {
        let mut characters: Vec<char> = wallet.answer(&wallet.sign(TEXT)).chars().collect();
        let position = position.index(characters.len());
        prop_assume!(characters[position] != character);
        characters[position] = character;
        let changed: String = characters.into_iter().collect();
        prop_assert!(!wallet.is_valid(TEXT, &changed));
    }

    #[test]
    fn b_022_high_s_is_refused_whoever_signed(wallet in any_wallet()) {
        let high = with_high_s(&wallet.sign(TEXT));
        for spelling in spellings(&high).into_iter().chain([wallet.answer(&high)]) {
            prop_assert_eq!(wallet.verdict(TEXT, &spelling), Verdict::Invalid("s is in the upper half of the order"));
        }
    }

    #[test]
    fn b_024_other_lengths_and_forms_are_refused(wallet in any_wallet(), length in 0_usize..200) {
        prop_assume!(length != 64);
        let good = wallet.sign(TEXT);
        let bytes: Vec<u8> = good.iter().copied().cycle().take(length).collect();
        for spelling in spellings(&bytes).into_iter().chain([wallet.answer(&bytes)]) {
            prop_assert!(!wallet.is_valid(TEXT, &spelling));
        }
        let der = Signature::from_slice(&good).unwrap().to_der();
        prop_assert!(!wallet.is_valid(TEXT, &STANDARD.encode(der.as_bytes())));
    }

    #[test]
    fn any_text_at_all_gets_a_verdict(address in ".{0,60}", chain in ".{0,30}", text in ".{0,60}", signature in "[{]?.{0,140}") {
        prop_assert!(!matches!(verdict_on(&chain, &address, &text, &signature), Verdict::Valid(_)));
        prop_assert!(!wallet().is_valid(&text, &signature));
    }
}
