//! The operator's description of a coin.

use countersign_adapters_crypto::{Coin, CoinVerifier};
use countersign_ports::WalletVerifier;

/// Checks a description. If it is accepted, its verifier must answer, and the coin's names must fit into a
/// challenge.
pub fn judge(text: &str) {
    let coin = match Coin::parse(text) {
        Ok(coin) => coin,
        Err(rejected) => {
            assert!(!rejected.to_string().is_empty());
            return;
        }
    };
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    assert!(is_plain(coin.name()) && is_plain(coin.chain()) && coin.chain().contains(':'), "{coin:?}");
    let again = Coin::parse(&format!(" {text} "));
    assert_eq!(again.as_ref(), Ok(&coin), "white space around it changes it");
    let verifier = CoinVerifier::new(coin.clone());
    let hints = verifier.address_hints();
    assert!(hints.iter().all(|hint| hint.kind == coin.name() && !hint.look.is_empty()), "{hints:?}");
    for address in ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"] {
        for recognized in verifier.recognize(address, Some(coin.chain())) {
            assert_eq!(recognized.account.chain, coin.chain());
            let canonical = verifier.recognize(&recognized.account.address, Some(coin.chain()));
            assert_eq!(canonical, [recognized], "the canonical form is a fixed point");
        }
    }
}
