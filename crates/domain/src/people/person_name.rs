//! What operators call a user or a wallet, so that they read a name and not an id.
//!
//! Only operators see it. No application receives it, and it goes with the account when that is deleted.

use std::fmt;

use crate::readable::readable_text;

/// The longest name of a user or a wallet, in characters.
pub const MAX_PERSON_NAME_LENGTH: usize = 64;

readable_text! {
    /// A name that operators gave to a user or a wallet: no control, invisible or bidirectional characters.
    PersonName, MAX_PERSON_NAME_LENGTH
}

impl PersonName {
    /// The same in small letters, which names are looked up by.
    pub fn folded(&self) -> String {
        folded(self.as_str())
    }
}

/// What is compared with the beginning of a name, whatever letters are capitals.
pub fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

impl fmt::Display for PersonName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readable::NameRejected;

    #[test]
    fn f_08_a_name_has_64_characters_that_are_all_seen() {
        let name = |text: &str| PersonName::parse(text).map(|name| name.to_string());
        assert_eq!(name("  Ann O'Neill \"the boss\" "), Ok("Ann O'Neill \"the boss\"".to_owned()));
        assert_eq!(name(&"安".repeat(64)), Ok("安".repeat(64)));
        assert_eq!(name(&"安".repeat(65)), Err(NameRejected::Length { most: 64 }));
        for hidden in ["Ann\u{202E}", "Ann\u{200B}", "Ann\nadded", "\u{2066}Ann", "Ann\0", "Ann\u{1b}[1m"] {
            assert_eq!(name(hidden), Err(NameRejected::Hidden), "{hidden:?}");
        }
    }

    #[test]
    fn a_name_is_looked_up_in_small_letters() {
        let name = PersonName::parse("Ännchen ŁUKASZ").unwrap();
        assert_eq!(name.folded(), "ännchen łukasz");
        assert!(name.folded().starts_with(&folded(" ÄNN ")));
    }
}
