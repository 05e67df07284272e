//! How the server recognizes its own texts without storing them: the nonce of each text ends in a MAC over
//! the rest of it.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// Longer texts are not examined. Ours have at most 4,000 bytes.
pub const MAX_TEXT: usize = 8 * 1024;

/// What comes before a nonce.
const BEFORE_NONCE: &str = "\nNonce: ";
/// The random part of a nonce: 12 bytes in hex.
const RANDOM_DIGITS: usize = 24;
/// How much of the MAC goes into a nonce: 128 bits, which no one can guess.
const MAC_BYTES: usize = 16;
/// The same length in hex digits.
pub(super) const MAC_DIGITS: usize = 2 * MAC_BYTES;
/// Separates this use of the key from any other.
const LABEL: &[u8] = b"countersign challenge text, version 1\0";

/// The MAC key for our texts. Someone who has it can forge texts that we accept as ours, but cannot sign in
/// with them.
#[derive(Clone, PartialEq, Eq)]
pub struct TextKey([u8; 32]);

impl TextKey {
    /// Makes a key from bytes that were derived for this purpose only.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Inserts the MAC after the random part of a text's nonce.
    pub(super) fn complete(&self, mut text: String) -> String {
        if let Some((head, tail)) = end_of_random_part(&text).and_then(|end| text.split_at_checked(end)) {
            let (end, mac) = (head.len(), self.mac(head.as_bytes(), tail.as_bytes()));
            text.insert_str(end, &mac);
        }
        text
    }

    /// The MAC over the text before and after the place where it is inserted. The length of the first part is
    /// included, so that the same bytes split at another place have another MAC.
    fn mac(&self, head: &[u8], tail: &[u8]) -> String {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("32 bytes are a key");
        mac.update(LABEL);
        mac.update(&(head.len() as u64).to_be_bytes());
        mac.update(head);
        mac.update(tail);
        hex::encode(&mac.finalize().into_bytes()[..MAC_BYTES])
    }
}

impl fmt::Debug for TextKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextKey(..)")
    }
}

/// Did a server with this key write exactly this text? This does not say who asked for it or when: anyone can
/// get texts from us.
pub fn is_ours(key: &TextKey, text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() > MAX_TEXT {
        return false;
    }
    let parts = end_of_random_part(text).and_then(|end| {
        let (head, rest) = bytes.split_at_checked(end)?;
        let (mac, tail) = rest.split_at_checked(2 * MAC_BYTES)?;
        Some((head, mac, tail))
    });
    let Some((head, mac, tail)) = parts else { return false };
    key.mac(head, tail).as_bytes().ct_eq(mac).into()
}

/// The end of the random part of the first nonce. None of our texts has anything like a nonce before its
/// nonce, because nothing that others choose can contain a line break.
fn end_of_random_part(text: &str) -> Option<usize> {
    text.find(BEFORE_NONCE)?.checked_add(BEFORE_NONCE.len() + RANDOM_DIGITS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::challenge::tests::{KEY, text};

    #[test]
    fn a_text_that_we_wrote_is_ours_and_under_another_key_it_is_not() {
        assert!(is_ours(&KEY, &text([1; 12])));
        assert!(!is_ours(&TextKey::new([9; 32]), &text([1; 12])));
    }

    #[test]
    fn the_nonce_is_96_random_bits_and_128_bits_of_the_mac() {
        let text = text([0xab; 12]);
        let nonce = text.split_once("\nNonce: ").unwrap().1.lines().next().unwrap();
        assert_eq!(nonce.len(), 56, "A-049");
        assert!(nonce.starts_with(&"ab".repeat(12)), "{nonce}");
        assert!(nonce.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{nonce}");
    }

    /// Computed independently, with Python's `hmac`.
    #[test]
    fn the_mac_is_the_documented_one() {
        let text = KEY.complete("a\nNonce: 000102030405060708090a0b\nb".to_owned());
        assert_eq!(text, "a\nNonce: 000102030405060708090a0bf8b7b7e478e38c2162e6a1bb69b499f9\nb");
    }

    #[test]
    fn not_one_character_of_our_texts_may_be_changed_added_or_left_out() {
        let ours = text([1; 12]);
        for position in 0..ours.len() {
            let (head, tail) = ours.split_at(position);
            assert!(!is_ours(&KEY, head), "cut at {position}");
            assert!(!is_ours(&KEY, &format!("{head}{}", &tail[1..])), "without {position}");
            assert!(!is_ours(&KEY, &format!("{head} {tail}")), "with a space at {position}");
            let other = if tail.starts_with('x') { 'y' } else { 'x' };
            assert!(!is_ours(&KEY, &format!("{head}{other}{}", &tail[1..])), "changed at {position}");
        }
        assert!(!is_ours(&KEY, &ours.replace('\n', "\r\n")));
        assert!(!is_ours(&KEY, &ours.to_uppercase()));
        let nonce = ours.split_once("\nNonce: ").unwrap().1.lines().next().unwrap();
        assert!(!is_ours(&KEY, &ours.replace(nonce, &nonce.to_uppercase())), "one spelling only");
    }

    #[test]
    fn a_nonce_of_ours_makes_no_other_text_ours() {
        let (one, other) = (text([1; 12]), text([2; 12]));
        let nonce = |text: &str| text.split_once("\nNonce: ").unwrap().1.lines().next().unwrap().to_owned();
        let (own, strange) = (&nonce(&one)[24..], &nonce(&other)[24..]);
        assert!(!is_ours(&KEY, &one.replace(own, strange)));
        assert!(!is_ours(&KEY, &one.replace("photos.example", "evil.example")));
        assert!(!is_ours(&KEY, &format!("evil.example\nNonce: {}\n{one}", nonce(&one))));
        assert!(!is_ours(&KEY, &format!("\nNonce: {}", nonce(&one))));
    }

    #[test]
    fn a_text_beyond_the_limit_is_not_ours_and_a_key_never_prints_itself() {
        let long = KEY.complete(format!("\nNonce: {}\n{}", "0".repeat(24), "a".repeat(MAX_TEXT)));
        assert!(!is_ours(&KEY, &long));
        assert_eq!(format!("{KEY:?}"), "TextKey(..)");
    }

    proptest! {
        #[test]
        fn whatever_strangers_send_is_not_ours(text in ".{0,40}(\nNonce: )?[0-9a-f]{0,60}.{0,40}") {
            prop_assert!(!is_ours(&KEY, &text));
        }
    }
}
