//! Plots: grouped bars as SVG, readable on light and dark backgrounds.

use std::fmt::Write;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 56.0;
const COLORS: [&str; 4] = ["#4c8bf5", "#f5a742", "#3aa76d", "#b06ad9"];
const LINES: u32 = 5;

/// Grouped bars: a group for each name, with a bar for each series.
#[derive(Clone, Debug)]
pub(super) struct Bars {
    /// The title.
    pub(super) title: String,
    /// The label below each group.
    pub(super) groups: Vec<String>,
    /// A name and a value for each group; a missing value has no bar.
    pub(super) series: Vec<(String, Vec<Option<f64>>)>,
    /// A line across the plot at the goal.
    pub(super) goal: Option<f64>,
}

impl Bars {
    /// Draws the plot.
    pub(super) fn draw(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{0}\">\n\
             <title>{0}</title>\n<style>text {{ font: 12px sans-serif; fill: #57606a }} .title {{ font-size: 15px; font-weight: \
             600 }} .grid {{ stroke: #8b949e; stroke-opacity: .35 }} .goal {{ stroke: #d1242f; stroke-width: 1.5; \
             stroke-dasharray: 6 4 }} @media (prefers-color-scheme: dark) {{ text {{ fill: #c9d1d9 }} .goal {{ stroke: #ff7b72 \
             }} }}</style>\n<text class=\"title\" x=\"{LEFT}\" y=\"20\">{0}</text>\n",
            escaped(&self.title)
        );
        let top = self.top();
        self.draw_legend(&mut svg);
        draw_grid(&mut svg, top);
        self.draw_bars(&mut svg, top);
        if let Some(goal) = self.goal {
            let y = height_of(goal, top);
            let _ = writeln!(
                svg,
                "<line class=\"goal\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            );
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn draw_legend(&self, svg: &mut String) {
        let mut x = LEFT;
        for ((name, _), color) in self.series.iter().zip(COLORS.iter().cycle()) {
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.0}\" y=\"31\" width=\"11\" height=\"11\" rx=\"2\" fill=\"{color}\"/><text x=\"{:.0}\" y=\"41\">{}</text>",
                x + 16.0,
                escaped(name)
            );
            x += 40.0 + 7.0 * count(name.chars().count());
        }
    }

    fn draw_bars(&self, svg: &mut String, top: f64) {
        let group = (WIDTH - LEFT) / count(self.groups.len().max(1));
        let bar = group * 0.78 / count(self.series.len().max(1));
        for (place, name) in self.groups.iter().enumerate() {
            let left = LEFT + group * (count(place) + 0.11);
            let _ = writeln!(
                svg,
                "<text text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.0}\">{}</text>",
                left + group * 0.39,
                HEIGHT - BOTTOM + 18.0,
                escaped(name)
            );
            for (index, (series, values)) in self.series.iter().enumerate() {
                let Some(value) = values.get(place).copied().flatten() else { continue };
                let y = height_of(value, top);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}, {}: {}</title></rect>",
                    left + bar * count(index),
                    (bar - 1.0).max(1.0),
                    HEIGHT - BOTTOM - y,
                    COLORS[index % COLORS.len()],
                    escaped(name),
                    escaped(series),
                    super::thousands(value)
                );
            }
        }
    }

    /// A round number above all values.
    fn top(&self) -> f64 {
        let values = self.series.iter().flat_map(|(_, values)| values.iter().flatten().copied());
        round_above(values.chain(self.goal).fold(0.0, f64::max))
    }
}

fn draw_grid(svg: &mut String, top: f64) {
    for line in 0..=LINES {
        let value = top * f64::from(line) / f64::from(LINES);
        let y = height_of(value, top);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text text-anchor=\"end\" x=\"{:.0}\" \
             y=\"{:.1}\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            super::thousands(value)
        );
    }
}

fn height_of(value: f64, top: f64) -> f64 {
    HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value / top).clamp(0.0, 1.0)
}

/// The next of 1, 1.5, 2, 2.5, 3, 4, 5, 7.5 and 10, times a power of ten.
fn round_above(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0];
    steps.into_iter().map(|step| step * power).find(|round| *round >= value).unwrap_or(power * 10.0)
}

#[expect(clippy::cast_precision_loss, reason = "a few bars")]
const fn count(number: usize) -> f64 {
    number as f64
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_ends_at_a_round_number_above_everything() {
        let rounds = [0.0, 0.9, 1.0, 101.0, 5_100.0, 80_000.0].map(round_above);
        assert_eq!(rounds, [1.0, 1.0, 1.0, 150.0, 7_500.0, 100_000.0]);
    }

    #[test]
    fn every_value_has_a_bar_and_names_are_escaped() {
        let bars = Bars {
            title: "a < b".to_owned(),
            groups: vec!["one".to_owned(), "two".to_owned()],
            series: vec![
                ("x".to_owned(), vec![Some(1.0), None]),
                ("y".to_owned(), vec![Some(2.0), Some(3.0)]),
            ],
            goal: Some(2.5),
        };
        let svg = bars.draw();
        assert_eq!(svg.matches("</title></rect>").count(), 3);
        assert!(svg.contains("a &lt; b") && !svg.contains("a < b"));
        assert!(svg.contains("class=\"goal\"") && svg.contains("prefers-color-scheme: dark"));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
}
