//! The name of a wallet: what its person calls it, so that they know it again among several.
//!
//! The first name is the one that the wallet's software gives itself. It is a claim: any program can call
//! itself anything. So a name is shown only to the person, next to the address, and never signed or put into
//! a token.

use std::fmt;

use crate::readable::readable_text;

/// The longest name of a wallet, in characters.
pub const MAX_WALLET_NAME_LENGTH: usize = 60;

readable_text! {
    /// A name that its person can read: no control, invisible or bidirectional characters.
    WalletName, MAX_WALLET_NAME_LENGTH
}

impl fmt::Display for WalletName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readable::NameRejected;

    #[test]
    fn a_wallet_s_name_follows_the_rules_for_clients_and_is_shorter() {
        let name = |text: &str| WalletName::parse(text).map(|name| name.to_string());
        assert_eq!(name("  My ledger <b> "), Ok("My ledger <b>".to_owned()));
        assert_eq!(name(&"財".repeat(60)), Ok("財".repeat(60)));
        assert_eq!(name(&"財".repeat(61)), Err(NameRejected::Length { most: 60 }));
        assert_eq!(name("  "), Err(NameRejected::Length { most: 60 }));
        for hidden in ["a\u{202E}b", "a\u{200B}", "a\nb", "\u{FEFF}a", "a\0"] {
            assert_eq!(name(hidden), Err(NameRejected::Hidden), "{hidden:?}");
        }
        assert_eq!(name("\u{301}"), Err(NameRejected::Blank));
    }
}
