//! A user's picture, drawn from its name ([`crate::picture`]). It is always the same, so nothing has to be
//! stored.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The number of squares in a row, and of rows.
const SIZE: usize = 7;

/// Each has a contrast of at least 4.5 to 1 against the background.
const COLORS: [&str; 12] = [
    "#b42318", "#b54708", "#8a6100", "#4d7c0f", "#15803d", "#0f766e", "#0e7490", "#1d4ed8", "#4338ca",
    "#7e22ce", "#a21caf", "#be185d",
];

/// Draws the picture with this name as SVG: a pattern of squares that mirrors left and right.
pub fn identicon(name: &[u8; 16]) -> String {
    let hash: [u8; 32] = Sha256::digest(name).into();
    let [color, squares @ ..] = &hash;
    let color = COLORS.get(usize::from(*color) % COLORS.len()).copied().unwrap_or_default();
    let mut path = String::new();
    let halves = squares.chunks(SIZE.div_ceil(2)).take(SIZE);
    for (row, half) in halves.enumerate() {
        for (column, _) in half.iter().enumerate().filter(|(_, byte)| **byte & 1 == 1) {
            let mirrored = SIZE.saturating_sub(1).saturating_sub(column);
            for column in [column, mirrored].iter().take(if column == mirrored { 1 } else { 2 }) {
                // Writing to a string cannot fail.
                let _ = write!(path, "M{column} {row}h1v1h-1z");
            }
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1.5 -1.5 10 10\" width=\"240\" height=\"240\" \
         shape-rendering=\"crispEdges\"><path fill=\"#f4f4f5\" d=\"M-1.5-1.5h10v10h-10z\"/>\
         <path fill=\"{color}\" d=\"{path}\"/></svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_always_the_same_and_that_of_another_user_is_another() {
        let [ann, bob] = [[1; 16], [2; 16]];
        assert_eq!(identicon(&ann), identicon(&ann));
        assert_ne!(identicon(&ann), identicon(&bob));
    }

    #[test]
    fn a_picture_is_the_same_on_the_left_and_on_the_right() {
        for number in 0..=255 {
            let picture = identicon(&[number; 16]);
            for row in 0..SIZE {
                for column in 0..SIZE {
                    let has = |column: usize| picture.contains(&format!("M{column} {row}h"));
                    assert_eq!(has(column), has(SIZE - 1 - column), "{picture}");
                }
            }
        }
    }
}
