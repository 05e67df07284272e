//! The picture of a user, drawn from its name ([`crate::picture`]), and that of a wallet, drawn from its
//! address. They are always the same, so nothing has to be stored.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::wallet::WalletAccount;

/// The number of squares in a row, and of rows.
const SIZE: usize = 7;

/// Each has a contrast of at least 4.5 to 1 against the background.
const COLORS: [&str; 12] = [
    "#b42318", "#b54708", "#8a6100", "#4d7c0f", "#15803d", "#0f766e", "#0e7490", "#1d4ed8", "#4338ca",
    "#7e22ce", "#a21caf", "#be185d",
];

/// Draws the picture with this name as SVG: a pattern of squares that mirrors left and right.
pub fn identicon(name: &[u8; 16]) -> String {
    let hash: [u8; 32] = Sha256::digest(name).into();
    let [color, squares @ ..] = &hash;
    let color = COLORS.get(usize::from(*color) % COLORS.len()).copied().unwrap_or_default();
    let mut path = String::new();
    let halves = squares.chunks(SIZE.div_ceil(2)).take(SIZE);
    for (row, half) in halves.enumerate() {
        for (column, _) in half.iter().enumerate().filter(|(_, byte)| **byte & 1 == 1) {
            let mirrored = SIZE.saturating_sub(1).saturating_sub(column);
            for column in [column, mirrored].iter().take(if column == mirrored { 1 } else { 2 }) {
                // Writing to a string cannot fail.
                let _ = write!(path, "M{column} {row}h1v1h-1z");
            }
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1.5 -1.5 10 10\" width=\"240\" height=\"240\" \
         shape-rendering=\"crispEdges\"><path fill=\"#f4f4f5\" d=\"M-1.5-1.5h10v10h-10z\"/>\
         <path fill=\"{color}\" d=\"{path}\"/></svg>\n"
    )
}

/// Draws the picture of a wallet, to be put into a page. Addresses that begin and end alike have different
/// pictures, so that people notice when they take one for another.
pub fn wallet_picture(account: &WalletAccount) -> String {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(account.family.as_bytes())
        .chain_update([0])
        .chain_update(account.address.as_bytes())
        .finalize()
        .into();
    let [color, squares @ ..] = &hash;
    let color = COLORS.get(usize::from(*color) % COLORS.len()).copied().unwrap_or_default();
    let mut path = String::new();
    for (row, half) in squares.chunks(SIZE.div_ceil(2)).take(SIZE).enumerate() {
        let left = half.iter().map(|byte| byte & 1 == 1);
        let filled: Vec<bool> = left.clone().chain(left.rev().skip(1)).collect();
        let mut column = 0;
        for run in filled.chunk_by(|one, other| one == other) {
            if run.first() == Some(&true) {
                // Writing to a string cannot fail.
                let _ = write!(path, "M{column} {row}.5h{}", run.len());
            }
            column += run.len();
        }
    }
    format!(
        "<svg class=\"picture\" viewBox=\"-1 -1 9 9\" aria-hidden=\"true\"><path fill=\"#f4f4f5\" d=\"M-1-1h9v9h-9z\"/>\
         <path stroke=\"{color}\" d=\"{path}\"/></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wallet(family: &str, address: &str) -> WalletAccount {
        let (family, address) = (family.to_owned(), address.to_owned());
        WalletAccount { chain: family.clone(), family, address }
    }

    #[test]
    fn wallets_whose_addresses_begin_and_end_alike_have_different_pictures() {
        let alike =
            ["0x52908400098527886E0F7030069857D2E4169EE7", "0x52908400098527886E0F7030069857D3E4169EE7"]
                .map(|address| wallet_picture(&wallet("eip155", address)));
        assert_ne!(alike[0], alike[1]);
        assert_ne!(wallet_picture(&wallet("a", "bc")), wallet_picture(&wallet("ab", "c")));
        assert_eq!(wallet_picture(&wallet("a", "b")), wallet_picture(&wallet("a", "b")));
        let chain = WalletAccount { chain: "elsewhere".to_owned(), ..wallet("a", "b") };
        assert_eq!(wallet_picture(&chain), wallet_picture(&wallet("a", "b")), "one wallet on every chain");
    }

    /// It is put into a page as it is.
    #[test]
    fn nothing_of_an_address_is_in_a_wallet_s_picture() {
        let picture = wallet_picture(&wallet("<script>", "\"><b>"));
        assert!(!picture.contains("<b>") && !picture.contains("script"), "{picture}");
        let plain = |c: char| c.is_ascii_alphanumeric() || " <>/=\"#-.".contains(c);
        assert!(picture.chars().all(plain), "{picture}");
    }

    #[test]
    fn a_picture_is_always_the_same_and_that_of_another_user_is_another() {
        let [ann, bob] = [[1; 16], [2; 16]];
        assert_eq!(identicon(&ann), identicon(&ann));
        assert_ne!(identicon(&ann), identicon(&bob));
    }

    #[test]
    fn a_picture_is_the_same_on_the_left_and_on_the_right() {
        for number in 0..=255 {
            let picture = identicon(&[number; 16]);
            for row in 0..SIZE {
                for column in 0..SIZE {
                    let has = |column: usize| picture.contains(&format!("M{column} {row}h"));
                    assert_eq!(has(column), has(SIZE - 1 - column), "{picture}");
                }
            }
        }
    }
}
