//! Where the row of a live access token is.

use uuid::Uuid;

/// The key of a live access token's row: the first 64 bits of its id, without the digit that says the
/// version.
pub(crate) fn place(id: Uuid) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *id.as_bytes();
    i64::from_be_bytes([0, 0, a, b, c, d, e, f]) << 12 | i64::from(u16::from_be_bytes([g, h]) & 0xfff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_time_and_the_chance_of_an_id() {
        let id = Uuid::parse_str("01890a5d-ac96-774b-bcce-b302099a8057").unwrap();
        assert_eq!(place(id), 0x0189_0a5d_ac96 << 12 | 0x74b);
        assert_eq!(place(Uuid::max()), 0x0fff_ffff_ffff_ffff);
        assert_eq!(place(Uuid::nil()), 0);
    }
}
