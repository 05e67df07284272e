//! Numbers in what others send, as text.

use std::str::FromStr;

/// Reads a number of ASCII digits. Rust's own parser also takes a `+`, which no standard has and which the next
/// reader may refuse, or take for a space.
pub fn whole<N: Whole>(text: &str) -> Option<N> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { text.parse().ok() } else { None }
}

/// The types of such numbers.
pub trait Whole: FromStr {}

impl Whole for u8 {}
impl Whole for u16 {}
impl Whole for u32 {}
impl Whole for u64 {}
impl Whole for usize {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_and_fits() {
        assert_eq!(whole::<u32>("0"), Some(0));
        assert_eq!(whole::<u32>("007"), Some(7));
        assert_eq!(whole::<u8>("255"), Some(255));
        for text in
            ["", "+5", "-5", "-0", " 5", "5 ", "5.0", "5e1", "0x5", "1_0", "\u{665}", "\u{ff15}", "256"]
        {
            assert_eq!(whole::<u8>(text), None, "{text:?}");
        }
    }
}
