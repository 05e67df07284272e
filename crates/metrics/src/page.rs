//! Generates docs/metrics.md from the table; the tests keep it up to date.

use std::{env, fs};

use crate::table::{self, Description, MetricKind};

const FRAME: &str = include_str!("page.md");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");

fn row(Description { name, kind, labels, help }: &Description) -> String {
    let labels: Vec<String> = labels.iter().map(|(name, says)| format!("`{name}`: {says}")).collect();
    format!("| `{name}` | {} | {} | {help} |\n", kind.name(), labels.join("; "))
}

#[test]
fn the_page_is_up_to_date() {
    let rows: String = table::ALL.iter().map(|what| row(what)).collect();
    let page = FRAME.replace("{{table}}\n", &format!("{rows}\n"));
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(PAGE, &page).unwrap();
    }
    let written = fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page,
        "docs/metrics.md is out of date; run UPDATE_DOCS=1 cargo test -p countersign-metrics page"
    );
}

#[test]
fn whatever_the_page_asks_prometheus_for_is_told() {
    let words = FRAME.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let starts = ["countersign_", "http_server_", "process_"];
    let asked: Vec<&str> = words
        .filter(|word| {
            starts.iter().any(|start| word.strip_prefix(start).is_some_and(|rest| !rest.is_empty()))
        })
        .collect();
    assert!(asked.len() > 8, "{asked:?}");
    for word in asked {
        let is_told = |what: &&'static Description| match what.kind {
            MetricKind::Counter | MetricKind::Gauge => what.name == word,
            MetricKind::Histogram => word
                .strip_prefix(what.name)
                .is_some_and(|suffix| ["_bucket", "_sum", "_count"].contains(&suffix)),
        };
        assert!(table::ALL.iter().any(is_told) || word == "countersign_storage_", "{word}");
    }
}
