//! Prometheus' text format, version 0.0.4.

use std::fmt::{Display, Write};

use crate::counter::Counter;
use crate::histogram::{BOUNDS, Histogram};
use crate::labelled::Labelled;
use crate::table::Description;

/// The page while it is being written.
#[derive(Debug, Default)]
pub(crate) struct Text(String);

impl Text {
    /// The finished page.
    pub(crate) fn finish(self) -> String {
        self.0
    }

    /// Writes a number without labels.
    pub(crate) fn single(&mut self, what: &Description, value: impl Display) {
        self.each(what, [([], value)]);
    }

    /// Writes a number for each of these label values.
    pub(crate) fn each<const N: usize>(
        &mut self,
        what: &Description,
        samples: impl IntoIterator<Item = ([&'static str; N], impl Display)>,
    ) {
        self.head(what);
        for (values, value) in samples {
            self.sample(what, "", &values, None, value);
        }
    }

    /// Writes all counters of a metric.
    pub(crate) fn counters<const N: usize>(&mut self, what: &Description, counters: &Labelled<Counter, N>) {
        self.each(what, counters.iter().map(|(values, counter)| (values, counter.read())));
    }

    /// Writes the histograms of a metric that were used at least once.
    pub(crate) fn histograms<const N: usize>(
        &mut self,
        what: &Description,
        histograms: &Labelled<Histogram, N>,
    ) {
        self.head(what);
        for (values, histogram) in histograms.iter() {
            let Some(reading) = histogram.read() else { continue };
            for (bound, within) in BOUNDS.into_iter().zip(reading.within) {
                self.sample(what, "_bucket", &values, Some(bound), within);
            }
            self.sample(what, "_sum", &values, None, reading.sum);
            self.sample(what, "_count", &values, None, reading.within[BOUNDS.len() - 1]);
        }
    }

    fn head(&mut self, Description { name, kind, help, .. }: &Description) {
        self.write(format_args!("# HELP {name} {help}\n# TYPE {name} {}\n", kind.name()));
    }

    fn sample(
        &mut self,
        what: &Description,
        suffix: &str,
        values: &[&str],
        bound: Option<&str>,
        value: impl Display,
    ) {
        self.write(format_args!("{}{suffix}", what.name));
        let names = what.labels.iter().map(|(name, _)| *name).zip(values.iter().copied());
        let mut separator = '{';
        for (name, text) in names.chain(bound.map(|bound| ("le", bound))) {
            debug_assert!(!text.contains(['"', '\\', '\n']), "label values are our own words: {text:?}");
            self.write(format_args!("{separator}{name}=\"{text}\""));
            separator = ',';
        }
        let end = if separator == '{' { "" } else { "}" };
        self.write(format_args!("{end} {value}\n"));
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(text);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::table::MetricKind;

    #[test]
    fn a_page_is_written_as_prometheus_reads_it() {
        let gauge = Description { name: "ready", kind: MetricKind::Gauge, labels: &[], help: "Ready?" };
        let labels = &[("way", "")];
        let counter = Description { name: "calls_total", kind: MetricKind::Counter, labels, help: "Calls." };
        let times = Description { name: "took_seconds", kind: MetricKind::Histogram, ..counter };
        let counters: Labelled<Counter, 1> = Labelled::new([&["in", "out"]]);
        counters.of(["out"]).count();
        let histograms: Labelled<Histogram, 1> = Labelled::new([&["in", "out"]]);
        histograms.of(["in"]).record(Duration::from_millis(40));
        let mut text = Text::default();
        text.single(&gauge, 1);
        text.counters(&counter, &counters);
        text.histograms(&times, &histograms);
        let text = text.finish();
        assert!(
            text.starts_with(
                "# HELP ready Ready?\n# TYPE ready gauge\nready 1\n# HELP calls_total Calls.\n# TYPE calls_total \
                 counter\ncalls_total{way=\"in\"} 0\ncalls_total{way=\"out\"} 1\n"
            ),
            "{text}"
        );
        assert!(text.contains("took_seconds_bucket{way=\"in\",le=\"0.025\"} 0\n"), "{text}");
        assert!(text.contains("took_seconds_bucket{way=\"in\",le=\"0.05\"} 1\n"), "{text}");
        assert!(
            text.ends_with(
                "took_seconds_bucket{way=\"in\",le=\"+Inf\"} 1\ntook_seconds_sum{way=\"in\"} 0.04\n\
                 took_seconds_count{way=\"in\"} 1\n"
            ),
            "{text}"
        );
    }
}
