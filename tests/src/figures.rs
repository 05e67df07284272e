//! Reads `/metrics` strictly, line by line.

use std::collections::BTreeMap;

use crate::http::Response;

/// Values by their names with labels, as on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures(pub BTreeMap<String, f64>);

impl Figures {
    /// Reads a page. The test fails if a line does not follow Prometheus' text format.
    #[track_caller]
    pub fn of(response: &Response) -> Self {
        assert_eq!(response.status, 200, "{response:?}");
        let kind = response.header("Content-Type");
        assert_eq!(kind, Some("text/plain; version=0.0.4; charset=utf-8"), "{response:?}");
        let text = response.text();
        assert!(text.ends_with('\n'), "the last line ends with a line feed");
        let (mut figures, mut family) = (BTreeMap::new(), "");
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                family = help.split_once(' ').unwrap_or_else(|| panic!("{line}")).0;
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                assert!(kind.strip_prefix(family).is_some_and(|kind| kind.starts_with(' ')), "{line}");
            } else {
                let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
                assert!(name.starts_with(family), "{line} belongs to {family}");
                let value = value.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
                assert_eq!(figures.insert(name.to_owned(), value), None, "{line} comes twice");
            }
        }
        Self(figures)
    }

    /// A value, or 0 if nothing was counted.
    pub fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// How much each counter has grown since then, except those of the process and the durations.
    pub fn grown_since(&self, before: &Self) -> BTreeMap<String, f64> {
        let counts = self.0.iter().filter(|(name, _)| {
            let name = name.split('{').next().unwrap_or_default();
            name.starts_with("countersign_") && name.ends_with("_total") || name.ends_with("_count")
        });
        let grown = counts.map(|(name, value)| (name.clone(), value - before.get(name)));
        grown.filter(|(name, by)| *by != 0.0 && !name.contains("\"/metrics\"")).collect()
    }

    /// The values of a label in all metrics.
    pub fn values(&self, label: &str) -> Vec<&str> {
        let start = format!("{label}=\"");
        let found = self.0.keys().filter_map(|name| name.split_once(&start)?.1.split('"').next());
        let mut values: Vec<&str> = found.collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}
