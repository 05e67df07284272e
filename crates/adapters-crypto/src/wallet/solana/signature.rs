//! Encodings of a signature: base58 as wallets show it, base64 and base64url as the page's script sends it,
//! and hex (B-042, P-06).
//!
//! Length and alphabet tell which encoding a text has, with one exception:
//!
//! | characters | encoding |
//! | --- | --- |
//! | 128, or 130 with `0x` in front | hex |
//! | 88 with `==` at the end | padded base64 or base64url |
//! | 86 with one of `+ / - _ 0 O I l` | base64 or base64url without padding |
//! | 64 to 88 of base58's alphabet, but not 86 | base58 |
//! | 86 of base58's alphabet | base58, or base64 without padding |
//!
//! In the last row two readings are possible: a signature that begins with a zero byte can have 86 characters
//! in base58, and about one in four thousand base64 texts of that length contains none of the characters that
//! base58 leaves out. No rule about the text alone can be right for both, so both readings are returned,
//! base64 first. This is safe: a reading counts only after it is verified, and bytes that verify were made by
//! the holder's key, however they were encoded.

use countersign_domain::wallet::signature_bytes;

use super::base58;

/// The length of a signature in bytes.
const LENGTH: usize = 64;

/// The most characters that 64 bytes take in base58. The fewest are 64, all of them `1`.
const LONGEST: usize = 88;

/// The 64 bytes that a text may mean: no reading, one, or in the rare case two.
pub(super) fn readings(text: &str) -> impl Iterator<Item = [u8; LENGTH]> {
    let digits = signature_bytes(text, LENGTH).and_then(|bytes| bytes.try_into().ok());
    let base58 = if (LENGTH..=LONGEST).contains(&text.len()) { base58(text) } else { None };
    [digits, base58].into_iter().flatten()
}
