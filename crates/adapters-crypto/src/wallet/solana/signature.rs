//! Spellings of a signature: base58 as wallets show it, base64 and base64url as the page's script sends it, hex (B-042, P-06).
//!
//! Length and alphabet say which spelling a text is, with one exception:
//!
//! | characters | spelling |
//! | --- | --- |
//! | 128, or 130 with `0x` in front | hex |
//! | 88 with `==` at the end | padded base64 or base64url |
//! | 86 with one of `+ / - _ 0 O I l` | base64 or base64url without padding |
//! | 64 to 88 of base58's alphabet, but not 86 | base58 |
//! | 86 of base58's alphabet | base58, or base64 without padding |
//!
//! In the last row two readings may exist: a signature that begins with a zero byte can have 86 characters in base58, and
//! about one in four thousand of those in base64 is without all the characters that base58 leaves out. No rule about the text
//! alone can be right for both, so both readings are given, base64 first. That costs no safety: a reading counts for nothing
//! until it is verified, and bytes that verify were made by the holder's key, however they were spelled.

use countersign_domain::wallet::signature_bytes;

use super::base58;

/// How many bytes a signature has.
const LENGTH: usize = 64;

/// The most characters of 64 bytes in base58. The fewest are 64, all of them `1`.
const LONGEST: usize = 88;

/// What 64 bytes a text may mean: none, one, or in the rare case two.
pub(super) fn readings(text: &str) -> impl Iterator<Item = [u8; LENGTH]> {
    let digits = signature_bytes(text, LENGTH).and_then(|bytes| bytes.try_into().ok());
    let base58 = if (LENGTH..=LONGEST).contains(&text.len()) { base58(text) } else { None };
    [digits, base58].into_iter().flatten()
}
