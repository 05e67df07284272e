//! QR codes of links, for screens and for terminals.

use qrcode::render::{svg, unicode};
use qrcode::{EcLevel, QrCode};

/// An image as SVG, dark on light whatever is around it. `None` if the text is too long for a QR code.
pub fn svg(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let mut image = code.render::<svg::Color<'_>>();
    image.min_dimensions(200, 200).dark_color(svg::Color("#000")).light_color(svg::Color("#fff"));
    let image = image.build();
    // Only the element, so that a page can contain it.
    Some(image.split_once("?>").map_or(image.clone(), |(_, element)| element.trim_start().to_owned()))
}

/// The same in half blocks, for a terminal. Most write light on dark, so what is dark in the code is left empty.
pub fn blocks(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let mut drawing = code.render::<unicode::Dense1x2>();
    drawing.dark_color(unicode::Dense1x2::Light).light_color(unicode::Dense1x2::Dark);
    Some(drawing.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_an_image_that_loads_nothing() {
        let image = svg("https://auth.example/join/0123456789012345678901234567890123456789012").unwrap();
        assert!(image.starts_with("<svg ") && image.trim_end().ends_with("</svg>"), "{image}");
        assert!(!image.contains("href") && !image.contains("style"), "{image}");
        assert!(svg(&"a".repeat(5_000)).is_none() && blocks(&"a".repeat(5_000)).is_none());
    }

    #[test]
    fn a_terminal_gets_lines_of_one_width() {
        let lines = blocks("https://auth.example/join/0123456789012345678901234567890123456789012").unwrap();
        let widths: Vec<usize> = lines.lines().map(|line| line.chars().count()).collect();
        assert!(widths.len() > 15 && widths.iter().all(|width| *width == widths[0]), "{lines}");
        assert!(widths[0] < 80, "it fits a terminal: {}", widths[0]);
    }
}
