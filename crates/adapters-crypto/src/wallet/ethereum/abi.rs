//! The few parts of the contract ABI that are needed: words, and bytes after their length.

/// The length of a word.
pub(super) const WORD: usize = 32;

/// Encodes a small number as a word.
pub(super) fn word(number: usize) -> [u8; WORD] {
    let mut word = [0; WORD];
    let digits = number.to_be_bytes();
    word[WORD - digits.len()..].copy_from_slice(&digits);
    word
}

/// The space that this many bytes take, in whole words.
pub(super) const fn padded(length: usize) -> usize {
    length.div_ceil(WORD) * WORD
}

/// Encodes bytes after their length, padded with zeros.
pub(super) fn bytes(content: &[u8]) -> Vec<u8> {
    let mut data = word(content.len()).to_vec();
    data.extend(content);
    data.resize(WORD + padded(content.len()), 0);
    data
}
