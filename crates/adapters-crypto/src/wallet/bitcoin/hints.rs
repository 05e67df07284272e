//! What addresses look like, and how to sign with common wallets.

use countersign_ports::SigningHint;

use super::Coin;
use super::address::{Holder, base58};

/// The prefixes of a coin's addresses, for example `1…, 3… or bc1…`.
pub(super) fn look(coin: &Coin) -> String {
    let mut beginnings: Vec<String> = Vec::new();
    for version in coin.p2pkh_versions().iter().chain(coin.p2sh_versions()) {
        // The first character depends a little on the hash. The lowest and the highest hash show the possible
        // ones.
        for hash in [[0; 20], [0xff; 20]] {
            let beginning: String = base58(*version, &hash).chars().take(1).collect();
            if !beginnings.contains(&beginning) {
                beginnings.push(beginning);
            }
        }
    }
    beginnings.extend(coin.hrp().map(|hrp| format!("{hrp}1")));
    let last = beginnings.pop().unwrap_or_default();
    if beginnings.is_empty() {
        return format!("{last}…");
    }
    format!("{}… or {last}…", beginnings.join("…, "))
}

/// Ways to sign with an address of this kind. Only tools whose signatures are accepted here are named:
/// Electrum, for example, has its own way to sign for segwit addresses (P-07).
pub(super) fn signing(coin: &Coin, holder: &Holder, address: &str) -> Vec<SigningHint> {
    let node = || SigningHint {
        tool: "The coin's node",
        how: format!("{} signmessage {address} \"$(cat sign-in.txt)\"", coin.cli()),
    };
    let electrum =
        || SigningHint { tool: "Electrum", how: "Tools, Sign/verify message, then Sign".to_owned() };
    let sparrow = |format: &str| SigningHint {
        tool: "Sparrow",
        how: format!("Tools, Sign/Verify Message, with the format {format}"),
    };
    let trezor = || SigningHint { tool: "Trezor Suite", how: "the account's menu, Sign & verify".to_owned() };
    // Electrum and Sparrow support only Bitcoin, and only Bitcoin and its test networks sign by BIP-322.
    match (holder, coin.signs_by_bip322()) {
        (Holder::Key(_), true) => vec![node(), electrum(), sparrow("Standard (Electrum)")],
        (Holder::Key(_), false) => vec![node()],
        (Holder::Script(_), true) => vec![sparrow("BIP137 (Trezor)"), trezor()],
        (Holder::SegwitKey(_), true) => vec![sparrow("BIP322 (Simple)"), trezor()],
        (Holder::Script(_) | Holder::SegwitKey(_), false) if coin.hrp().is_some() => vec![trezor()],
        (Holder::Taproot(_), true) => vec![sparrow("BIP322 (Simple)")],
        (Holder::Script(_) | Holder::SegwitKey(_) | Holder::SegwitScript(_) | Holder::Taproot(_), _) => {
            Vec::new()
        }
    }
}
