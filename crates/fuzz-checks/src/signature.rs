//! What must be true of every text that is presented as a signature.

use base64::alphabet;
use base64::engine::general_purpose::{
    GeneralPurpose, GeneralPurposeConfig, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD,
};
use base64::engine::{DecodePaddingMode, Engine};
use countersign_domain::wallet::signature_bytes;
use countersign_ports::Verdict;
use serde_json::Value;

use crate::accounts::{Core, FAMILIES, Family, Signed};
use crate::verdict;

/// More characters than 65 bytes take in base58.
const MAX_BASE58: usize = 100;

/// Verifies a signature. The first character says whose it should be; the rest is the signature.
pub fn judge(family: &Family, input: &str) {
    let Some((row, signature)) = pick(input, family.signed.len()) else { return };
    let (signed, account) = (&family.signed[row], family.account(row));
    let is_valid = |signature: &str| match verdict(account, signed.text, signature) {
        Ok(Verdict::Valid(whose)) => {
            assert_eq!(&whose, account);
            true
        }
        Ok(Verdict::Invalid(_)) | Err(_) => false,
    };
    let readings = readings(signature);
    if is_valid(signature) {
        let same = |row: &&Signed| (row.address, row.text) == (signed.address, signed.text);
        let mut known = family.signed.iter().filter(same);
        assert!(
            known.any(|row| readings.iter().any(|bytes| is_the_holders(row, bytes))),
            "somebody made a signature without the key: {signature:?}"
        );
        let is_spelling = |bytes: &Vec<u8>| {
            family.spellings.iter().any(|spell| spell(bytes).eq_ignore_ascii_case(signature))
        };
        let is_free = family.spellings.is_empty() || signature.contains('{');
        assert!(is_free || readings.iter().any(is_spelling), "a second spelling: {signature:?}");
    }
    let length = own_bytes(signed).len();
    for bytes in readings.iter().filter(|bytes| bytes.len() == length) {
        let mut verdicts = family.spellings.iter().map(|spell| is_valid(&spell(bytes)));
        let first = verdicts.next();
        assert!(verdicts.all(|verdict| Some(verdict) == first), "spellings of {} differ", hex::encode(bytes));
    }
}

/// Is this the recorded signature? If bytes have a fixed meaning, all of them count, with one exception: 0 and 1
/// can replace 27 and 28.
fn is_the_holders(row: &Signed, bytes: &[u8]) -> bool {
    match row.core {
        Core::Exact => own_bytes(row) == bytes,
        Core::Recoverable => match (own_bytes(row).split_last(), bytes.split_last()) {
            (Some((own, scalars)), Some((recovery, others))) => {
                scalars == others && (own == recovery || *own == recovery.wrapping_add(27))
            }
            _ => false,
        },
        Core::Parts(parts) => parts.iter().all(|part| {
            let part = hex::decode(part).expect("hex in the table");
            bytes.windows(part.len()).any(|window| window == part)
        }),
    }
}

/// The bytes of the valid signature, in the first of its spellings.
fn own_bytes(signed: &Signed) -> Vec<u8> {
    readings(signed.signature).swap_remove(0)
}

/// Checks a valid signature against another text. The first two characters say which signature; the rest is the
/// text.
pub fn signed_text(input: &str) {
    let Some((family, rest)) = pick(input, FAMILIES.len()) else { return };
    let family = FAMILIES[family];
    let Some((row, text)) = pick(rest, family.signed.len()) else { return };
    let signed = &family.signed[row];
    let judged = verdict(family.account(row), text, signed.signature);
    let valid = matches!(judged, Ok(Verdict::Valid(_)));
    assert_eq!(valid, text == signed.text, "{text:?}");
}

/// Decodes a signature of a known length. The first character says which length; the rest is the signature.
pub fn bytes(input: &str) {
    const LENGTHS: [usize; 4] = [64, 65, 96, 33];
    let Some((length, text)) = pick(input, LENGTHS.len()) else { return };
    let Some(bytes) = signature_bytes(text, LENGTHS[length]) else { return };
    assert_eq!(bytes.len(), LENGTHS[length]);
    let digits = hex::encode(&bytes);
    let is_hex = text.strip_prefix("0x").unwrap_or(text).to_ascii_lowercase() == digits;
    let in_base64 =
        [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].map(|engine| engine.encode(&bytes));
    assert!(
        is_hex || in_base64.iter().any(|spelling| spelling == text),
        "{text:?} is no spelling of {digits}"
    );
    for spelling in in_base64.iter().chain([&digits, &format!("0x{digits}")]) {
        assert_eq!(signature_bytes(spelling, LENGTHS[length]).as_ref(), Some(&bytes), "{spelling}");
    }
}

/// Splits the first character off, as a number below `count`.
fn pick(input: &str, count: usize) -> Option<(usize, &str)> {
    let mut characters = input.chars();
    let first = characters.next()?;
    // The digits of ASCII begin at a multiple of 16, so that seed files say `0`, `1` and so on.
    Some(((first as usize).wrapping_sub('0' as usize) % count, characters.as_str()))
}

/// Everything that the text could mean as bytes, parsed more leniently than any family does: hex, base58, both kinds
/// of base64; after the prefixes of BIP-322, which have three letters; inside JSON strings, where some wallets put
/// the signature.
fn readings(text: &str) -> Vec<Vec<u8>> {
    let forgiving = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let mut texts = vec![text.trim().to_owned()];
    texts.extend(text.get(3..).map(ToOwned::to_owned));
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        strings_of(&value, &mut texts);
    }
    let mut readings = Vec::new();
    for text in &texts {
        readings.extend(hex::decode(text.strip_prefix("0x").unwrap_or(text)));
        // Decoding base58 takes time proportional to the square of the length.
        if text.len() <= MAX_BASE58 {
            readings.extend(bs58::decode(text).into_vec());
        }
        for alphabet in [&alphabet::STANDARD, &alphabet::URL_SAFE] {
            readings.extend(GeneralPurpose::new(alphabet, forgiving).decode(text));
        }
    }
    readings
}

fn strings_of(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings_of(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings_of(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
