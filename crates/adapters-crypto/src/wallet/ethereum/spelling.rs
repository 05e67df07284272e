//! Decodes the text of a signature: hex, base64 or base64url, distinguished by the alphabet and never by
//! trial.

use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine};

/// The longest accepted signature, in bytes: room for a passkey, a dozen owners or a deployment (E-10 asks
/// for at least 8 KiB), and short enough to be cheap to verify.
pub(super) const MAX_LENGTH: usize = 16 * 1024;

/// The longest text for that many bytes: hexadecimal digits after `0x`.
const MAX_TEXT: usize = "0x".len() + 2 * MAX_LENGTH;

const TOO_LONG: &str = "it is longer than 16 KiB";
const NOT_ENCODED: &str = "it is not hex, base64 or base64url";

/// Decodes a signature. Contracts accept bytes of any length, so the length does not tell the encoding: an
/// even number of hexadecimal digits, with or without `0x`, is hex, and everything else is base64. `0x` alone
/// is the empty signature. Some contracts accept it for a text that their owners approved on the chain.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, &'static str> {
    if text.len() > MAX_TEXT {
        return Err(TOO_LONG);
    }
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = digits.len().is_multiple_of(2) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bytes = if text.is_empty() {
        None
    } else if is_hex {
        hex::decode(digits).ok()
    } else {
        let alphabet = if text.contains(['-', '_']) { alphabet::URL_SAFE } else { alphabet::STANDARD };
        let padding = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        GeneralPurpose::new(&alphabet, padding).decode(text).ok()
    };
    match bytes {
        Some(bytes) if bytes.len() > MAX_LENGTH => Err(TOO_LONG),
        Some(bytes) => Ok(bytes),
        None => Err(NOT_ENCODED),
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::wallet::signature_bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::wallet::testing;

    fn spellings(bytes: &[u8]) -> Vec<String> {
        let mut spellings = testing::spellings(bytes);
        spellings.push(hex::encode_upper(bytes));
        spellings
    }

    #[test]
    fn e_10_every_length_up_to_16_kib_is_taken_in_every_spelling_and_none_beyond() {
        for length in [1, 2, 64, 65, 66, 97, 1216, 8 * 1024, MAX_LENGTH] {
            let bytes: Vec<u8> = (0..length).map(|at| (at * 37 + 251) as u8).collect();
            for spelling in spellings(&bytes) {
                assert_eq!(decode(&spelling), Ok(bytes.clone()), "{length}");
            }
        }
        for length in [MAX_LENGTH + 1, 2 * MAX_LENGTH, 1 << 20] {
            for spelling in spellings(&vec![0xfb; length]) {
                assert_eq!(decode(&spelling), Err(TOO_LONG), "{length}");
            }
        }
    }

    #[test]
    fn the_empty_signature_must_be_written_down() {
        assert_eq!(decode("0x"), Ok(Vec::new()));
        assert_eq!(decode(""), Err(NOT_ENCODED));
    }

    #[test]
    fn b_024_mixed_alphabets_spaces_and_stray_bits_are_refused() {
        for text in ["0x0g0", "+-+-", "AA AA", "AAA\n", "AAB=", "=", "====", "0x:0", "é", "０x00"] {
            assert_eq!(decode(text), Err(NOT_ENCODED), "{text}");
        }
    }

    proptest! {
        #[test]
        fn b_024_the_65_bytes_of_a_key_are_read_as_every_family_reads_them(text in "(0x)?[0-9a-fA-F]{130}|[A-Za-z0-9+/]{87}=?|[A-Za-z0-9_-]{86,88}=?") {
            let of_key = decode(&text).ok().filter(|bytes| bytes.len() == 65);
            prop_assert_eq!(of_key, signature_bytes(&text, 65));
        }

        #[test]
        fn any_text_gets_an_answer(text in ".{0,200}") {
            let _ = decode(&text);
        }
    }
}
