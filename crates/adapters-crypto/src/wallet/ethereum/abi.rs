//! The little of the contract ABI that is needed: words, and bytes behind their length.

/// How long a word is.
pub(super) const WORD: usize = 32;

/// A small number as a word.
pub(super) fn word(number: usize) -> [u8; WORD] {
    let mut word = [0; WORD];
    let digits = number.to_be_bytes();
    word[WORD - digits.len()..].copy_from_slice(&digits);
    word
}

/// How much room bytes of this length take: whole words.
pub(super) const fn padded(length: usize) -> usize {
    length.div_ceil(WORD) * WORD
}

/// Bytes behind their length, filled up with zeros.
pub(super) fn bytes(content: &[u8]) -> Vec<u8> {
    let mut data = word(content.len()).to_vec();
    data.extend(content);
    data.resize(WORD + padded(content.len()), 0);
    data
}
