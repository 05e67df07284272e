//! ERC-1271: the call that asks a contract about a signature, and the only answer that means yes.

use super::abi;

/// The selector of `isValidSignature(bytes32,bytes)`. A contract that accepts the signature returns it.
const MAGIC: [u8; 4] = [0x16, 0x26, 0xba, 0x7e];

/// The data of the call.
pub(super) fn question(hash: &[u8; 32], signature: &[u8]) -> Vec<u8> {
    let mut data = MAGIC.to_vec();
    data.extend(hash);
    // The bytes begin after the two words of the head.
    data.extend(abi::word(2 * abi::WORD));
    data.extend(abi::bytes(signature));
    data
}

/// True if this word means yes. A number with the same digits does not, nor does a word with anything after
/// them (B-047).
pub(super) fn is_yes(answer: &[u8]) -> bool {
    answer.len() == abi::WORD
        && answer.starts_with(&MAGIC)
        && answer[MAGIC.len()..] == [0; abi::WORD - MAGIC.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_is_encoded_as_the_abi_says() {
        let data = question(&[0xab; 32], &[1, 2, 3]);
        let expected = format!("1626ba7e{}{:064x}{:064x}010203{}", "ab".repeat(32), 64, 3, "0".repeat(58));
        assert_eq!(hex::encode(data), expected);
        assert_eq!(question(&[0; 32], &[]).len(), 4 + 3 * 32);
        assert_eq!(question(&[0; 32], &[0; 32]).len(), 4 + 4 * 32);
        assert_eq!(question(&[0; 32], &[0; 33]).len(), 4 + 5 * 32);
    }

    #[test]
    fn b_047_one_word_means_yes() {
        let mut yes = [0; 32];
        yes[..4].copy_from_slice(&MAGIC);
        assert!(is_yes(&yes));
        for bit in 0..256 {
            let mut other = yes;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_yes(&other), "{bit}");
        }
        for length in (0..32).chain([33, 64, 96]) {
            let mut other = yes.to_vec();
            other.resize(length, 0);
            assert!(!is_yes(&other), "{length}");
        }
    }
}
