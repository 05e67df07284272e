//! A measurement as it is stored: a line of JSON.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::step::Step;

/// The databases that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// The embedded one.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// The server that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// The real server.
    Server,
    /// The floor, which does only what cannot be avoided.
    Floor,
}

/// A line of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    /// The machine and the time.
    Run(Run),
    /// A step under load.
    Cell(Cell),
    /// Figures that do not depend on a step.
    Footprint(Footprint),
}

/// When and where the run took place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The date.
    pub date: String,
    /// Processors, memory, kernel.
    pub machine: String,
    /// The seconds and rounds of each cell.
    pub cell: String,
}

/// A step under load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The database.
    pub database: Database,
    /// The server.
    pub target: Target,
    /// The step.
    pub step: Step,
    /// The number of connections.
    pub connections: usize,
    /// How many tokens were in the database beforehand, if growth was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Answers per second.
    pub per_second: f64,
    /// The number of answers.
    pub answers: usize,
    /// Their median latency, in microseconds.
    pub p50: f64,
    /// Their p99 latency, in microseconds.
    pub p99: f64,
    /// Processor time of the server per answer, in microseconds.
    pub server_cpu: f64,
    /// Processor time of the database's processes per answer, in microseconds.
    pub database_cpu: f64,
    /// The highest resident memory of the server that was seen, in KiB.
    pub memory: u64,
    /// The first error, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Figures that do not depend on a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    /// The database.
    pub database: Database,
    /// The server.
    pub target: Target,
    /// From the start of the process to its first answer, on an existing database, in milliseconds.
    pub first_answer: f64,
    /// Resident memory after that, in KiB.
    pub idle_memory: u64,
    /// The size of the program, in bytes.
    pub program: u64,
}

impl Database {
    /// The name as it is written in prose.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// The percentile by nearest rank; `None` if there are no values. `part` is between 0 and 1.
pub fn percentile(sorted: &[u32], part: f64) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a rank among millions is exact in a float"
    )]
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The median; for an even number of values, the mean of the two in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        length if length % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<u32> = (1..=200).collect();
        assert_eq!(percentile(&values, 0.5), Some(100));
        assert_eq!(percentile(&values, 0.99), Some(198));
        assert_eq!(percentile(&values[..1], 0.99), Some(1));
        assert_eq!(percentile(&[], 0.99), None);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median([4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median([]).abs() < f64::EPSILON);
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let record = Record::Footprint(Footprint {
            database: Database::Sqlite,
            target: Target::Floor,
            first_answer: 12.5,
            idle_memory: 9_000,
            program: 1,
        });
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.starts_with(r#"{"kind":"footprint","database":"sqlite","target":"floor""#), "{line}");
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
    }
}
