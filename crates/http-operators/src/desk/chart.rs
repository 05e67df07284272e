//! Charts of bars. Everything is placed here, in units of the SVG's view box; the template writes it, with each
//! number once more in a table.

use serde::Serialize;

/// As wide as a narrow phone shows it, so that its words are as large there as other small text.
const WIDTH: f64 = 320.0;
const TOP: f64 = 10.0;
const PLOT: f64 = 130.0;
const LEFT: f64 = 34.0;
const ROW: f64 = 30.0;
const SERIES: [&str; 6] = ["k1", "k2", "k3", "k4", "k5", "k6"];

/// A chart.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    /// Its id in the page, and the key of its title.
    id: String,
    key: &'static str,
    is_days: bool,
    width: f64,
    height: f64,
    bars: Vec<Bar>,
    lines: Vec<ChartLine>,
    labels: Vec<Label>,
    series: Vec<Series>,
    /// The columns of numbers; none has a name if there is only one.
    head: Vec<Option<String>>,
    rows: Vec<Row>,
    total: u64,
    most: u64,
    most_at: String,
}

#[derive(Debug, Serialize)]
struct Bar {
    class: &'static str,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    title: String,
}

#[derive(Debug, Serialize)]
struct ChartLine {
    from: f64,
    to: f64,
    y: f64,
}

#[derive(Debug, Serialize)]
struct Label {
    x: f64,
    y: f64,
    anchor: &'static str,
    text: String,
    is_scale: bool,
}

#[derive(Debug, Serialize)]
struct Series {
    class: &'static str,
    name: String,
}

/// One place of a chart: its name, and a number for each series.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) values: Vec<u64>,
}

impl Chart {
    /// Columns, one for each row, with the series on top of each other. More series than there are colors share
    /// the last one.
    pub(super) fn columns(key: &'static str, series: Vec<String>, rows: Vec<Row>) -> Self {
        let top = nice(rows.iter().map(Row::sum).max().unwrap_or_default());
        let step = (WIDTH - LEFT - 2.0) / number(rows.len().max(1));
        let height = |count: u64| rounded(PLOT * float(count) / float(top));
        let mut bars = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let mut base = TOP + PLOT;
            for (which, count) in row.values.iter().enumerate().filter(|(_, count)| **count > 0) {
                base -= height(*count);
                bars.push(Bar {
                    class: class(which),
                    x: rounded(LEFT + step * number(place)),
                    y: rounded(base),
                    width: rounded(step * 0.8),
                    height: height(*count),
                    title: match series.get(which).filter(|_| series.len() > 1) {
                        Some(name) => format!("{}, {name}: {count}", row.name),
                        None => format!("{}: {count}", row.name),
                    },
                });
            }
        }
        let scale = [0, top / 2, top].map(|count| (count, rounded(TOP + PLOT - height(count))));
        let lines = scale.map(|(_, y)| ChartLine { from: LEFT, to: WIDTH, y }).into();
        let mut labels: Vec<Label> =
            scale.map(|(count, y)| Label::new(LEFT - 4.0, y + 4.0, "end", count.to_string(), true)).into();
        let below = TOP + PLOT + 15.0;
        if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
            labels.push(Label::new(LEFT, below, "start", first.name.clone(), true));
            if rows.len() > 1 {
                labels.push(Label::new(WIDTH - 1.0, below, "end", last.name.clone(), true));
            }
        }
        let this = Self::of(key, series, rows, below + 6.0);
        Self { is_days: true, bars, lines, labels, ..this }
    }

    /// Bars below each other, each with its name and its number.
    pub(super) fn bars(key: &'static str, counts: Vec<(String, u64)>) -> Self {
        let most = counts.iter().map(|(_, count)| *count).max().unwrap_or_default().max(1);
        let mut bars = Vec::new();
        let mut labels = Vec::new();
        for (place, (name, count)) in counts.iter().enumerate() {
            let y = ROW * number(place);
            labels.push(Label::new(0.0, y + 12.0, "start", name.clone(), false));
            labels.push(Label::new(WIDTH, y + 12.0, "end", count.to_string(), true));
            bars.push(Bar {
                class: class(0),
                x: 0.0,
                y: y + 17.0,
                width: rounded((WIDTH * float(*count) / float(most)).max(if *count > 0 { 1.0 } else { 0.0 })),
                height: 8.0,
                title: format!("{name}: {count}"),
            });
        }
        let height = ROW * number(counts.len().max(1));
        let rows = counts.into_iter().map(|(name, count)| Row { name, values: vec![count] }).collect();
        let this = Self::of(key, Vec::new(), rows, height);
        Self { bars, labels, ..this }
    }

    fn of(key: &'static str, series: Vec<String>, rows: Vec<Row>, height: f64) -> Self {
        let most = rows.iter().max_by_key(|row| row.sum());
        Self {
            id: format!("chart-{}", key.replace('_', "-")),
            key,
            is_days: false,
            width: WIDTH,
            height,
            bars: Vec::new(),
            lines: Vec::new(),
            labels: Vec::new(),
            head: if series.len() > 1 { series.iter().cloned().map(Some).collect() } else { vec![None] },
            series: series
                .into_iter()
                .enumerate()
                .map(|(which, name)| Series { class: class(which), name })
                .collect(),
            total: rows.iter().map(Row::sum).sum(),
            most: most.map(Row::sum).unwrap_or_default(),
            most_at: most.map(|row| row.name.clone()).unwrap_or_default(),
            rows,
        }
    }
}

impl Row {
    fn sum(&self) -> u64 {
        self.values.iter().sum()
    }
}

impl Label {
    const fn new(x: f64, y: f64, anchor: &'static str, text: String, is_scale: bool) -> Self {
        Self { x, y, anchor, text, is_scale }
    }
}

const fn class(which: usize) -> &'static str {
    let last = SERIES.len() - 1;
    SERIES[if which < last { which } else { last }]
}

/// The least of 2, 4, 10, 20, 40, 100 … that is not less: half of it is a whole number.
fn nice(most: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        for step in [2, 4, 10] {
            let top = power.saturating_mul(step);
            if top >= most {
                return top;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[expect(clippy::cast_precision_loss, reason = "the last digits of a bar's length are invisible")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "a chart has few bars")]
const fn number(place: usize) -> f64 {
    place as f64
}

/// To a hundredth, so that pages stay small.
fn rounded(length: f64) -> f64 {
    (length * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn days(values: &[Vec<u64>]) -> Vec<Row> {
        let rows = values.iter().enumerate();
        rows.map(|(day, values)| Row { name: format!("day {day}"), values: values.clone() }).collect()
    }

    #[test]
    fn a_scale_ends_at_a_round_number_whose_half_is_whole() {
        let ends = [(0, 2), (1, 2), (3, 4), (5, 10), (11, 20), (21, 40), (41, 100), (100, 100), (101, 200)];
        for (most, top) in ends {
            assert_eq!(nice(most), top);
        }
        assert_eq!(nice(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_bar_is_as_long_as_its_number_and_says_it() {
        let chart =
            Chart::bars("tokens", vec![("a".to_owned(), 10), ("<b>".to_owned(), 5), ("c".to_owned(), 0)]);
        let bars: Vec<_> = chart.bars.iter().map(|bar| (bar.width, bar.title.as_str())).collect();
        assert_eq!(bars, [(320.0, "a: 10"), (160.0, "<b>: 5"), (0.0, "c: 0")]);
        assert_eq!((chart.total, chart.most, chart.most_at.as_str()), (15, 10, "a"));
    }

    #[test]
    fn the_families_of_a_day_stand_on_each_other_in_colors_of_their_own() {
        let series = ["eip155", "solana"].map(str::to_owned).to_vec();
        let chart = Chart::columns("sign_ins", series, days(&[vec![1, 1], vec![0, 2], vec![0, 0]]));
        let bars: Vec<_> =
            chart.bars.iter().map(|bar| (bar.class, bar.y, bar.height, bar.title.as_str())).collect();
        assert_eq!(
            bars,
            [
                ("k1", 75.0, 65.0, "day 0, eip155: 1"),
                ("k2", 10.0, 65.0, "day 0, solana: 1"),
                ("k2", 10.0, 130.0, "day 1, solana: 2"),
            ]
        );
        assert_eq!(chart.total, 4);
    }

    #[test]
    fn nothing_makes_an_empty_chart() {
        for chart in [Chart::columns("sign_ins", Vec::new(), Vec::new()), Chart::bars("tokens", Vec::new())] {
            assert_eq!((chart.bars.len(), chart.total), (0, 0));
        }
    }

    proptest! {
        #[test]
        fn no_bar_leaves_the_chart(values in proptest::collection::vec(proptest::collection::vec(0..u64::from(u32::MAX), 7), 0..40)) {
            let series = (0..7).map(|family| family.to_string()).collect();
            let total: u64 = values.iter().flatten().sum();
            let chart = Chart::columns("sign_ins", series, days(&values));
            prop_assert_eq!(chart.total, total);
            for bar in &chart.bars {
                prop_assert!(bar.x >= LEFT && bar.x + bar.width <= WIDTH + 0.1, "{:?}", bar);
                prop_assert!(bar.y >= TOP - 0.1 && bar.y + bar.height <= TOP + PLOT + 0.1, "{:?}", bar);
            }
        }
    }
}
