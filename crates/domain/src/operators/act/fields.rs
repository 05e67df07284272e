//! The lines of a change among the resources of its text: each is a name and a value. Whatever people wrote, a
//! value never ends its line and never begins another one.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};

use uuid::Uuid;

use super::{Act, ActName, ActUnreadable};
use crate::id::{self, UserId};
use crate::wallet::WalletAccount;

/// The prefix of the line that says what changes.
pub(crate) const CHANGE: &str = "urn:countersign:change:";
/// The prefix of the lines that say how.
pub(crate) const WITH: &str = "urn:countersign:with:";

/// Writes the lines of one act, in their order.
#[derive(Clone, Debug)]
pub struct ActWriter(Vec<String>);

impl ActWriter {
    /// Begins with what changes.
    pub fn new(name: ActName) -> Self {
        Self(vec![format!("{CHANGE}{name}")])
    }

    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.0.push(format!("{WITH}{name}:{}", encoded(&value.to_string())));
        self
    }

    #[must_use]
    pub(super) fn with_some(self, name: &str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// A line for each of these. A list that is there and empty is one empty value.
    #[must_use]
    pub(super) fn with_list<T: fmt::Display>(self, name: &str, values: &[T]) -> Self {
        if values.is_empty() {
            return self.with(name, "");
        }
        self.with_each(name, values)
    }

    /// A line for each of these, and none for an empty list.
    #[must_use]
    pub(super) fn with_each<T: fmt::Display>(self, name: &str, values: &[T]) -> Self {
        values.iter().fold(self, |writer, value| writer.with(name, value))
    }

    pub(super) fn done(self) -> Vec<String> {
        self.0
    }

    /// The act that was written.
    pub fn act(self) -> Result<Act, ActUnreadable> {
        Act::from_lines(self.0.iter().map(String::as_str))
    }
}

/// The lines of one change, read in the order in which they were written.
pub(super) struct Reader<'a> {
    /// What changes.
    pub(super) change: &'a str,
    fields: VecDeque<(&'a str, String)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(lines: impl IntoIterator<Item = &'a str>) -> Result<Self, ActUnreadable> {
        let mut lines = lines.into_iter();
        let first = lines.next().ok_or(ActUnreadable)?;
        let change = first.strip_prefix(CHANGE).ok_or(ActUnreadable)?;
        let mut fields = VecDeque::new();
        for line in lines {
            let (name, value) =
                line.strip_prefix(WITH).and_then(|rest| rest.split_once(':')).ok_or(ActUnreadable)?;
            fields.push_back((name, decoded(value).ok_or(ActUnreadable)?));
        }
        Ok(Self { change, fields })
    }

    /// The value of the next line if it has this name.
    pub(super) fn maybe(&mut self, name: &str) -> Option<String> {
        if self.is_next(name) { self.fields.pop_front().map(|(_, value)| value) } else { None }
    }

    /// Has the next line this name?
    pub(super) fn is_next(&self, name: &str) -> bool {
        self.fields.front().is_some_and(|(next, _)| *next == name)
    }

    /// The value of the next line, which must have this name.
    pub(super) fn take(&mut self, name: &str) -> Result<String, ActUnreadable> {
        self.maybe(name).ok_or(ActUnreadable)
    }

    /// The same, as something else.
    pub(super) fn parse<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ActUnreadable> {
        parse(&self.take(name)?).ok_or(ActUnreadable)
    }

    /// The value of the next line as something else, if it has this name.
    pub(super) fn maybe_parse<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ActUnreadable> {
        match self.maybe(name) {
            Some(value) => parse(&value).map(Some).ok_or(ActUnreadable),
            None => Ok(None),
        }
    }

    /// The values of the next lines with this name.
    pub(super) fn each(&mut self, name: &str) -> Vec<String> {
        std::iter::from_fn(|| self.maybe(name)).collect()
    }

    /// The same for a list that may be there and empty.
    pub(super) fn list(&mut self, name: &str) -> Option<Vec<String>> {
        let values = self.each(name);
        match values.as_slice() {
            [] => None,
            [only] if only.is_empty() => Some(Vec::new()),
            _ => Some(values),
        }
    }

    /// Was every line read?
    pub(super) fn done(self) -> Result<(), ActUnreadable> {
        if self.fields.is_empty() { Ok(()) } else { Err(ActUnreadable) }
    }
}

/// What people wrote, in quotes that nothing in it ends.
pub(super) fn quoted(text: &str) -> String {
    let plain: Vec<String> = text.split('\'').map(plain).collect();
    format!("'{}'", plain.join("(U+0027)"))
}

/// A text in the characters of a statement (ERC-4361: those of URIs, and the space). Every other one is named. A
/// wallet does not read a text with another character as a sign-in, and does not compare its host.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || " -._~:/?#[]@!$&'()*+,;=".contains(character) {
            plain.push(character);
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(plain, "(U+{:04X})", u32::from(character));
        }
    }
    plain
}

/// A wallet in a line: `wallet:` for a key that is one account on every chain of its kind, `account:` for one
/// that is an account of its chain alone.
pub(super) fn written_wallet(wallet: &WalletAccount) -> String {
    let word = if wallet.family == wallet.chain { "account" } else { "wallet" };
    format!("{word}:{}", wallet.caip10())
}

pub(super) fn read_wallet(text: &str) -> Option<WalletAccount> {
    let (word, caip10) = text.split_once(':')?;
    let (position, _) = caip10.match_indices(':').nth(1)?;
    let (chain, address) = (caip10.get(..position)?, caip10.get(position + 1..)?);
    let family = match word {
        "wallet" => chain.split_once(':')?.0,
        "account" => chain,
        _ => return None,
    };
    let account =
        WalletAccount { family: family.to_owned(), chain: chain.to_owned(), address: address.to_owned() };
    Some(account).filter(|account| !account.address.is_empty() && !account.family.is_empty())
}

/// A user's id, whatever its version.
pub(super) fn read_user(text: &str) -> Option<UserId> {
    UserId::parse(text)
}

/// A value as it is written in a line: everything but unreserved characters and `:/,@` as percent escapes.
fn encoded(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/,@".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Reads a value in its only spelling.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let mut byte = [0];
                hex::decode_to_slice([*high, *low], &mut byte).ok()?;
                bytes.extend(byte);
                tail
            }
            _ => {
                bytes.push(*first);
                tail
            }
        };
    }
    let decoded = String::from_utf8(bytes).ok()?;
    (encoded(&decoded) == value).then_some(decoded)
}

/// An id by its only spelling, for ids that have a type.
pub(super) fn read_uuid<T>(text: &str, wrap: impl FnOnce(Uuid) -> T) -> Option<T> {
    id::read_uuid(text).map(wrap)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_is_one_line_of_printable_ascii_and_is_read_as_it_was_written(value in "(?s).{0,60}") {
            let written = encoded(&value);
            prop_assert!(written.bytes().all(|byte| byte.is_ascii_graphic()), "{}", written);
            prop_assert_eq!(decoded(&written), Some(value));
        }

        #[test]
        fn a_value_has_one_spelling(text in "[%0-9a-fA-F:/,@~ é]{0,12}") {
            if let Some(value) = decoded(&text) {
                prop_assert_eq!(encoded(&value), text);
            }
        }

        #[test]
        fn no_word_of_a_person_ends_its_quotes_or_leaves_the_characters_of_a_statement(text in "(?s).{0,60}") {
            let quoted = quoted(&text);
            prop_assert!(!quoted[1..quoted.len() - 1].contains('\''), "{}", quoted);
            prop_assert_eq!(plain(&quoted), quoted);
        }
    }

    #[test]
    fn a_wallet_is_read_as_it_is_written() {
        for (family, chain, address) in [
            ("eip155", "eip155:1", "0xab"),
            ("eip155:10", "eip155:10", "0xab"),
            ("cosmos:cosmoshub-3", "cosmos:cosmoshub-3", "cosmos1x"),
            ("toy", "toy:1", "toy-a"),
        ] {
            let (family, chain, address) = (family.to_owned(), chain.to_owned(), address.to_owned());
            let wallet = WalletAccount { family, chain, address };
            assert_eq!(read_wallet(&written_wallet(&wallet)), Some(wallet));
        }
        for wrong in ["", "wallet", "wallet:a", "wallet:a:b", "wallet:a:b:", "wallet::b:c", "key:a:b:c"] {
            assert_eq!(read_wallet(wrong), None, "{wrong}");
        }
    }
}
