//! Writes `docs/reports/performance.md` and its plots. The text is in `bench/performance.md`; no number is
//! written by hand.

use std::fs;
use std::io;
use std::path::Path;

use super::svg::Bars;
use super::{Report, medians_of, thousands};
use crate::cell::{Cell, Database, Record, Target};
use crate::step::Step;

const TEMPLATE: &str = include_str!("../../performance.md");
/// Results of other servers, written by hand with a date, from `bench/peers.md`.
const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers.md");
/// The number of connections that the goals are set for.
const SHOWN: usize = 64;

/// Writes the page into this folder, and the plots into its subfolder `images`.
pub fn write(records: &[Record], folder: &Path) -> io::Result<()> {
    let report = Report::of(records);
    let images = folder.join("images");
    fs::create_dir_all(&images)?;
    let mut plots = String::new();
    for database in report.databases() {
        let (name, title) = (file_name(database), database.title());
        fs::write(images.join(format!("performance-ratio-{name}.svg")), ratios(&report, database).draw())?;
        fs::write(
            images.join(format!("performance-throughput-{name}.svg")),
            throughput(&report, database).draw(),
        )?;
        fs::write(
            images.join(format!("performance-latency-{name}.svg")),
            latencies(&report, database).draw(),
        )?;
        for (plot, what) in
            [("ratio", "share of the floor"), ("throughput", "answers per second"), ("latency", "latency")]
        {
            plots.push_str(&format!("![{title}: {what}](images/performance-{plot}-{name}.svg)\n\n"));
        }
    }
    let growth = growth_table(records);
    if let Some(bars) = growth_bars(records) {
        fs::write(images.join("performance-growth.svg"), bars.draw())?;
    }
    let (date, machine, cell) = match records.first() {
        Some(Record::Run(run)) => (run.date.as_str(), run.machine.as_str(), run.cell.as_str()),
        Some(Record::Cell(_) | Record::Footprint(_)) | None => ("unknown", "unknown", "unknown"),
    };
    let page = [
        ("date", date),
        ("machine", machine),
        ("cell", cell),
        ("ratios", &ratio_tables(&report)),
        ("plots", plots.trim_end()),
        ("tables", &full_tables(&report)),
        ("footprint", report.footprints().trim_end()),
        ("growth", &growth),
        ("peers", fs::read_to_string(PEERS).unwrap_or_default().trim_end()),
    ]
    .into_iter()
    .fold(TEMPLATE.to_owned(), |page, (name, text)| page.replace(&format!("{{{{{name}}}}}"), text));
    fs::write(folder.join("performance.md"), format!("{}\n", page.trim_end()))
}

/// The share of the floor's throughput, by step and connections.
fn ratio_tables(report: &Report<'_>) -> String {
    let connections = report.connections();
    let mut text = String::new();
    for database in report.databases() {
        let heads: String = connections.iter().map(|number| format!(" {number} |")).collect();
        text.push_str(&format!(
            "| {}, connections: |{heads}\n|---|{}\n",
            database.title(),
            "---:|".repeat(connections.len())
        ));
        for step in report.steps() {
            let cells: String = connections
                .iter()
                .map(|number| {
                    report
                        .ratio(database, step, *number)
                        .map_or(" |".to_owned(), |ratio| format!(" {:.0} % |", ratio * 100.0))
                })
                .collect();
            text.push_str(&format!("| {} |{cells}\n", step.name()));
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

fn full_tables(report: &Report<'_>) -> String {
    let mut text = String::new();
    for database in report.databases() {
        for connections in report.connections() {
            let table = report.table(database, connections);
            let plural = if connections == 1 { "" } else { "s" };
            text.push_str(&format!(
                "### {}, {connections} connection{plural}\n\n{table}\n",
                database.title()
            ));
        }
    }
    text.trim_end().to_owned()
}

fn ratios(report: &Report<'_>, database: Database) -> Bars {
    let steps = report.steps();
    let series = report.connections().into_iter().map(|connections| {
        let values =
            steps.iter().map(|step| report.ratio(database, *step, connections).map(|ratio| ratio * 100.0));
        (format!("{connections} connections"), values.collect())
    });
    let goal = match database {
        Database::Sqlite => 70.0,
        Database::Postgres => 60.0,
    };
    bars(
        format!("{}: percent of the floor's throughput", database.title()),
        &steps,
        series.collect(),
        Some(goal),
    )
}

fn throughput(report: &Report<'_>, database: Database) -> Bars {
    let steps = report.steps();
    let of = |target| {
        steps.iter().map(|step| Some(report.medians(database, target, *step, SHOWN)?.per_second)).collect()
    };
    let series = vec![("server".to_owned(), of(Target::Server)), ("floor".to_owned(), of(Target::Floor))];
    bars(format!("{}: answers per second, {SHOWN} connections", database.title()), &steps, series, None)
}

fn latencies(report: &Report<'_>, database: Database) -> Bars {
    let steps = report.steps();
    let of = |target, value: fn(super::Medians) -> f64| {
        steps.iter().map(|step| report.medians(database, target, *step, SHOWN).map(value)).collect()
    };
    let series = vec![
        ("server's p50".to_owned(), of(Target::Server, |cell| cell.p50)),
        ("server's p99".to_owned(), of(Target::Server, |cell| cell.p99)),
        ("floor's p50".to_owned(), of(Target::Floor, |cell| cell.p50)),
        ("floor's p99".to_owned(), of(Target::Floor, |cell| cell.p99)),
    ];
    bars(format!("{}: latency in microseconds, {SHOWN} connections", database.title()), &steps, series, None)
}

fn bars(title: String, steps: &[Step], series: Vec<(String, Vec<Option<f64>>)>, goal: Option<f64>) -> Bars {
    Bars { title, groups: steps.iter().map(|step| step.name().to_owned()).collect(), series, goal }
}

/// Throughput by the number of tokens, with a row for each database and step.
type Growth = Vec<(Database, Step, Vec<(u64, f64)>)>;

fn growth(records: &[Record]) -> Growth {
    let mut rows: Growth = Vec::new();
    let mut cells: Vec<(Database, Step, u64, &Cell)> = records
        .iter()
        .filter_map(|record| match record {
            Record::Cell(cell) => Some((cell.database, cell.step, cell.tokens?, cell)),
            Record::Run(_) | Record::Footprint(_) => None,
        })
        .collect();
    cells.sort_by_key(|(database, step, tokens, _)| (*database, *step, *tokens));
    for same in cells.chunk_by(|one, other| (one.0, one.1, one.2) == (other.0, other.1, other.2)) {
        let (database, step, tokens, _) = same[0];
        let Some(medians) = medians_of(&same.iter().map(|(_, _, _, cell)| *cell).collect::<Vec<_>>()) else {
            continue;
        };
        match rows.last_mut() {
            Some((of, doing, sizes)) if (*of, *doing) == (database, step) => {
                sizes.push((tokens, medians.per_second))
            }
            Some(_) | None => rows.push((database, step, vec![(tokens, medians.per_second)])),
        }
    }
    rows
}

fn growth_table(records: &[Record]) -> String {
    let rows = growth(records);
    let Some((_, _, sizes)) = rows.first() else { return "Growth was not measured in this run.".to_owned() };
    let heads: String = sizes.iter().map(|(tokens, _)| format!(" {} |", thousands_of(*tokens))).collect();
    let mut text = format!("| per second, by live tokens: |{heads}\n|---|{}\n", "---:|".repeat(sizes.len()));
    for (database, step, sizes) in &rows {
        let first = sizes[0].1.max(f64::EPSILON);
        let cell =
            |(_, speed): &(u64, f64)| format!(" {} ({:.0} %) |", thousands(*speed), speed / first * 100.0);
        text.push_str(&format!(
            "| {}, {} |{}\n",
            database.title(),
            step.name(),
            sizes.iter().map(cell).collect::<String>()
        ));
    }
    format!("{}\n\n![Growth](images/performance-growth.svg)", text.trim_end())
}

fn growth_bars(records: &[Record]) -> Option<Bars> {
    let rows = growth(records);
    let sizes: Vec<u64> = rows.first()?.2.iter().map(|(tokens, _)| *tokens).collect();
    let series = sizes.iter().enumerate().map(|(index, tokens)| {
        let share = |(_, _, speeds): &(Database, Step, Vec<(u64, f64)>)| {
            Some(speeds.get(index)?.1 / speeds.first()?.1 * 100.0)
        };
        (format!("{} live tokens", thousands_of(*tokens)), rows.iter().map(share).collect())
    });
    Some(Bars {
        title: "Throughput in percent of that among the fewest tokens".to_owned(),
        groups: rows
            .iter()
            .map(|(database, step, _)| format!("{}, {}", database.title(), step.name()))
            .collect(),
        series: series.collect(),
        goal: Some(85.0),
    })
}

#[expect(clippy::cast_precision_loss, reason = "millions are exact in a float")]
fn thousands_of(number: u64) -> String {
    thousands(number as f64)
}

const fn file_name(database: Database) -> &'static str {
    match database {
        Database::Sqlite => "sqlite",
        Database::Postgres => "postgres",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(target: Target, per_second: f64, tokens: Option<u64>) -> Record {
        Record::Cell(Cell {
            database: Database::Sqlite,
            target,
            step: Step::Refresh,
            connections: 64,
            tokens,
            per_second,
            answers: 1,
            p50: 100.0,
            p99: 250.0,
            server_cpu: 1.0,
            database_cpu: 0.0,
            memory: 1024,
            error: None,
        })
    }

    #[test]
    fn the_page_has_its_tables_and_no_place_left_open() {
        let folder = tempfile::tempdir().unwrap();
        let records = [
            cell(Target::Server, 750.0, None),
            cell(Target::Floor, 1_000.0, None),
            cell(Target::Server, 500.0, Some(10_000)),
            cell(Target::Server, 450.0, Some(1_000_000)),
        ];
        write(&records, folder.path()).unwrap();
        let page = fs::read_to_string(folder.path().join("performance.md")).unwrap();
        assert!(!page.contains("{{"), "{page}");
        assert!(page.contains("| refresh | 75 % |"), "{page}");
        assert!(page.contains("| SQLite, refresh | 500 (100 %) | 450 (90 %) |"), "{page}");
        for plot in ["ratio-sqlite", "throughput-sqlite", "latency-sqlite", "growth"] {
            assert!(folder.path().join(format!("images/performance-{plot}.svg")).exists(), "{plot}");
        }
    }
}
