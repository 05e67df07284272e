//! Which accounts an address can mean, and what users read about them.

use std::sync::Arc;

use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::WalletVerifier;

use super::signing::{COMPACT, KINDS, Kind, Wallet, address_of, judged, wallet};
use super::{Coin, CoinVerifier, judge};
use crate::WalletRouter;

const TEXT: &str = "auth.example wants you to sign in";

/// The kinds, addresses and chain ids of everything that an address may mean.
fn meanings(router: &WalletRouter, address: &str, chain: Option<&str>) -> Vec<(String, String, String)> {
    let recognized = router.recognize(address, chain).into_iter();
    recognized.map(|one| (one.kind.into_owned(), one.account.address, one.chain_id)).collect()
}

fn kinds(address: &str, chain: Option<&str>) -> Vec<String> {
    meanings(&WalletRouter::standard(), address, chain).into_iter().map(|(kind, ..)| kind).collect()
}

#[test]
fn each_coins_address_means_its_one_account() {
    for coin in Coin::standard() {
        let address = wallet().address(Kind::Compressed, &coin);
        let expected = vec![(
            coin.name().to_owned(),
            address.clone(),
            coin.chain().strip_prefix("bip122:").unwrap().to_owned(),
        )];
        let router = WalletRouter::standard();
        assert_eq!(meanings(&router, &address, None), expected);
        assert_eq!(meanings(&router, &address, Some(coin.chain())), expected);
        let account = router.recognize(&address, None).remove(0).account;
        assert_eq!((account.family.as_str(), account.chain.as_str()), (coin.chain(), coin.chain()));
        for other in Coin::standard().iter().filter(|other| **other != coin) {
            assert_eq!(
                kinds(&address, Some(other.chain())),
                [] as [&str; 0],
                "{} on {}",
                address,
                other.name()
            );
        }
        assert_eq!(kinds(&address, Some("eip155:1")), [] as [&str; 0]);
    }
}

#[test]
fn an_old_litecoin_address_of_a_script_is_bitcoins_unless_litecoin_is_named() {
    let (bitcoin, litecoin) = (Coin::bitcoin(), Coin::litecoin());
    let (old, new) = (wallet().address(Kind::Nested, &bitcoin), wallet().address(Kind::Nested, &litecoin));
    assert!(old.starts_with('3') && new.starts_with('M'), "{old} {new}");
    assert_eq!(kinds(&old, None), ["Bitcoin"]);
    assert_eq!(kinds(&old, Some(bitcoin.chain())), ["Bitcoin"]);
    assert_eq!(kinds(&new, None), ["Litecoin"]);
    let router = WalletRouter::standard();
    let spellings = [&old, &new].map(|address| router.recognize(address, Some(litecoin.chain())));
    assert_eq!(spellings[0], spellings[1], "B-030: one account, however it is written");
    assert_eq!(spellings[0][0].account.address, new);
    let signature = hex::encode(wallet().compact(Kind::Nested, &litecoin, TEXT));
    assert_eq!(judged(&litecoin, &old, TEXT, &signature), Ok(()));
    assert!(judged(&bitcoin, &old, TEXT, &signature).is_err());
}

#[test]
fn coins_that_write_their_addresses_alike_are_both_named_and_the_chain_chooses() {
    let text = r#"name="Bitcoin Twin" chain=bip122:twin magic="Twin Signed Message:\n" p2pkh=0 p2sh=5"#;
    let twin = Coin::parse(text).unwrap();
    let coins = [Coin::bitcoin(), twin.clone()];
    let router = WalletRouter::new(
        coins
            .iter()
            .map(|coin| Arc::new(CoinVerifier::new(coin.clone())) as Arc<dyn WalletVerifier>)
            .collect(),
    );
    for kind in [Kind::Compressed, Kind::Nested] {
        let address = wallet().address(kind, &twin);
        let names = |chain| {
            let meanings = meanings(&router, &address, chain).into_iter();
            meanings.map(|(kind, ..)| kind).collect::<Vec<_>>()
        };
        assert_eq!(names(None), ["Bitcoin", "Bitcoin Twin"]);
        assert_eq!(names(Some("bip122:twin")), ["Bitcoin Twin"]);
        assert_eq!(names(Some(Coin::bitcoin().chain())), ["Bitcoin"]);
        for [right, wrong] in [[0, 1], [1, 0]] {
            let signature = hex::encode(wallet().compact(kind, &coins[right], TEXT));
            assert_eq!(judged(&coins[right], &address, TEXT, &signature), Ok(()));
            assert!(judged(&coins[wrong], &address, TEXT, &signature).is_err());
        }
    }
}

#[test]
fn b_030_b_033_segwit_in_upper_case_is_the_same_account_and_mixed_case_is_none() {
    let coin = Coin::bitcoin();
    let verifier = CoinVerifier::new(coin.clone());
    for kind in [Kind::Segwit, Kind::SegwitScript, Kind::Taproot] {
        let address = wallet().address(kind, &coin);
        let upper = address.to_uppercase();
        assert_eq!(verifier.recognize(&upper, None), verifier.recognize(&address, None));
        assert_eq!(verifier.recognize(&upper, None)[0].account.address, address);
        assert_eq!(verifier.recognize(&format!("BC1{}", &address[3..]), None), []);
        assert_eq!(verifier.recognize(&format!("bc1{}", &upper[3..]), None), []);
    }
}

#[test]
fn b_033_base58_is_never_case_folded() {
    for coin in Coin::standard() {
        let address = wallet().address(Kind::Compressed, &coin);
        for folded in [address.to_lowercase(), address.to_uppercase()] {
            assert_eq!(kinds(&folded, None), [] as [&str; 0], "{folded}");
        }
    }
}

#[test]
fn b_033_test_networks_are_no_accounts_unless_an_operator_adds_them() {
    let text = r#"name="Bitcoin Signet" chain=bip122:00000008819873e925422c1ff0f99f7c magic="Bitcoin Signed Message:\n" p2pkh=111 p2sh=196 hrp=tb bip322=yes"#;
    let signet = Coin::parse(text).unwrap();
    for kind in KINDS {
        let address = wallet().address(kind, &signet);
        assert_eq!(kinds(&address, None), [] as [&str; 0], "{address}");
        assert_eq!(CoinVerifier::new(signet.clone()).recognize(&address, None).len(), 1, "{address}");
    }
}

#[test]
fn a_coin_without_bip_322_has_no_accounts_that_only_bip_322_could_verify() {
    let coin = Coin::litecoin();
    for kind in KINDS {
        let can_sign = COMPACT.iter().any(|(compact, _)| *compact == kind);
        let address = wallet().address(kind, &coin);
        assert_eq!(kinds(&address, None).len(), usize::from(can_sign), "{address}");
    }
}

#[test]
fn b_027_an_account_that_recognizing_would_not_give_is_refused_with_its_own_reason() {
    let coin = Coin::litecoin();
    let verifier = CoinVerifier::new(coin.clone());
    let account = verifier.recognize(&wallet().address(Kind::Nested, &coin), None).remove(0).account;
    let signature = hex::encode(wallet().compact(Kind::Nested, &coin, TEXT));
    let judged = |account: WalletAccount| {
        judge(
            &coin,
            &WalletProof { account, kind: None, text: TEXT.to_owned(), signature: signature.clone() },
        )
    };
    assert_eq!(judged(account.clone()), Ok(()));
    let another = Err("the account belongs to another coin");
    assert_eq!(judged(WalletAccount { family: "bip122".to_owned(), ..account.clone() }), another);
    assert_eq!(
        judged(WalletAccount { chain: Coin::bitcoin().chain().to_owned(), ..account.clone() }),
        another
    );
    let not_canonical = Err("the account's address is not in its canonical form");
    let old = address_of(&wallet().holder(Kind::Nested), &Coin::bitcoin());
    for address in [old, account.address.to_lowercase(), String::new(), "1".repeat(1 << 20)] {
        assert_eq!(judged(WalletAccount { address, ..account.clone() }), not_canonical);
    }
}

#[test]
fn people_are_shown_what_addresses_look_like() {
    let looks: Vec<String> = WalletRouter::new(
        Coin::standard().map(|coin| Arc::new(CoinVerifier::new(coin)) as Arc<dyn WalletVerifier>).to_vec(),
    )
    .address_hints()
    .into_iter()
    .map(|hint| format!("{}: {}", hint.kind, hint.look))
    .collect();
    let expected = [
        "Bitcoin: 1…, 3… or bc1…",
        "Litecoin: L…, M… or ltc1…",
        "Dogecoin: D…, 9… or A…",
        "Ravencoin: R… or r…",
        "Evrmore: E… or e…",
    ];
    assert_eq!(looks, expected);
    let one = Coin::parse("name=One chain=bip122:one magic=x p2pkh=0").unwrap();
    assert_eq!(CoinVerifier::new(one).address_hints()[0].look, "1…");
}

#[test]
fn people_are_told_of_tools_whose_signatures_are_taken() {
    let tools = |coin: &Coin, kind| {
        let verifier = CoinVerifier::new(coin.clone());
        let account = verifier.recognize(&wallet().address(kind, coin), None).remove(0).account;
        let hints = verifier.signing_hints(&account).into_iter();
        hints.map(|hint| format!("{}: {}", hint.tool, hint.how)).collect::<Vec<_>>()
    };
    let address = wallet().address(Kind::Compressed, &Coin::bitcoin());
    let expected = [
        format!("The coin's node: bitcoin-cli signmessage {address} \"$(cat sign-in.txt)\""),
        "Electrum: Tools, Sign/verify message, then Sign".to_owned(),
        "Sparrow: Tools, Sign/Verify Message, with the format Standard (Electrum)".to_owned(),
    ];
    assert_eq!(tools(&Coin::bitcoin(), Kind::Compressed), expected);
    let expected = [
        "Sparrow: Tools, Sign/Verify Message, with the format BIP137 (Trezor)",
        "Trezor Suite: the account's menu, Sign & verify",
    ];
    assert_eq!(tools(&Coin::bitcoin(), Kind::Nested), expected);
    let expected = ["Sparrow: Tools, Sign/Verify Message, with the format BIP322 (Simple)"];
    assert_eq!(tools(&Coin::bitcoin(), Kind::Taproot), expected);
    assert_eq!(tools(&Coin::bitcoin(), Kind::Segwit)[0], expected[0]);
    assert_eq!(tools(&Coin::bitcoin(), Kind::SegwitScript), [] as [&str; 0]);
    let address = wallet().address(Kind::Compressed, &Coin::ravencoin());
    let expected = [format!("The coin's node: raven-cli signmessage {address} \"$(cat sign-in.txt)\"")];
    assert_eq!(tools(&Coin::ravencoin(), Kind::Compressed), expected);
    assert_eq!(tools(&Coin::litecoin(), Kind::Segwit), ["Trezor Suite: the account's menu, Sign & verify"]);
    assert_eq!(tools(&Coin::dogecoin(), Kind::Nested), [] as [&str; 0]);
}

#[test]
fn a_hint_is_given_by_the_accounts_own_coin_only() {
    let router = WalletRouter::standard();
    for coin in Coin::standard() {
        let key = Wallet::from_bytes([7; 32]).unwrap();
        let account = router.recognize(&key.address(Kind::Compressed, &coin), None).remove(0).account;
        let hints = router.signing_hints(&account);
        assert!(hints.iter().all(|hint| !hint.how.contains("cast ")), "{hints:?}");
        assert_eq!(hints.iter().filter(|hint| hint.how.contains("signmessage")).count(), 1, "{hints:?}");
    }
}

#[test]
fn a_script_for_the_page_comes_with_bitcoin_and_with_no_other_coin() {
    let scripts = Coin::standard().map(|coin| CoinVerifier::new(coin).page_modules().len());
    assert_eq!(scripts, [1, 0, 0, 0, 0]);
}
