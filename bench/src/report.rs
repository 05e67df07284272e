//! Tables of the results.

pub mod docs;
mod svg;

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::cell::{Cell, Database, Footprint, Record, Target, median};
use crate::step::Step;

/// The results, for look-ups.
#[derive(Debug)]
pub struct Report<'a> {
    records: &'a [Record],
}

/// The medians over the rounds of a cell.
#[derive(Clone, Copy, Debug)]
pub struct Medians {
    /// Answers per second.
    pub per_second: f64,
    /// The median latency in microseconds.
    pub p50: f64,
    /// The p99 latency.
    pub p99: f64,
    /// Processor time of the server per answer, in microseconds.
    pub server_cpu: f64,
    /// The same for the database.
    pub database_cpu: f64,
    /// The highest resident memory, in KiB.
    pub memory: f64,
}

impl<'a> Report<'a> {
    /// A report about these lines.
    pub const fn of(records: &'a [Record]) -> Self {
        Self { records }
    }

    /// Every cell except those about growth.
    pub fn cells(&self) -> impl Iterator<Item = &'a Cell> + use<'a> {
        self.records.iter().filter_map(|record| match record {
            Record::Cell(cell) if cell.tokens.is_none() => Some(cell),
            Record::Cell(_) | Record::Run(_) | Record::Footprint(_) => None,
        })
    }

    /// The footprint of one of the two servers.
    pub fn footprint(&self, database: Database, target: Target) -> Option<&'a Footprint> {
        self.records.iter().find_map(|record| match record {
            Record::Footprint(found) if (found.database, found.target) == (database, target) => Some(found),
            Record::Cell(_) | Record::Run(_) | Record::Footprint(_) => None,
        })
    }

    /// The databases that were measured, in the order of the tables.
    pub fn databases(&self) -> Vec<Database> {
        self.cells().map(|cell| cell.database).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The steps that were measured, in the order of the tables.
    pub fn steps(&self) -> Vec<Step> {
        self.cells().map(|cell| cell.step).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The numbers of connections that were measured, in the order of the tables.
    pub fn connections(&self) -> Vec<usize> {
        self.cells().map(|cell| cell.connections).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The medians of one cell.
    pub fn medians(
        &self,
        database: Database,
        target: Target,
        step: Step,
        connections: usize,
    ) -> Option<Medians> {
        let cells: Vec<&Cell> = self
            .cells()
            .filter(|cell| {
                (cell.database, cell.target, cell.step, cell.connections)
                    == (database, target, step, connections)
            })
            .collect();
        medians_of(&cells)
    }

    /// The server's throughput as a share of the floor's.
    pub fn ratio(&self, database: Database, step: Step, connections: usize) -> Option<f64> {
        let of = |target| self.medians(database, target, step, connections).map(|cell| cell.per_second);
        Some(of(Target::Server)? / of(Target::Floor)?.max(f64::EPSILON))
    }

    /// The errors, each only once.
    pub fn errors(&self) -> Vec<String> {
        let cells = self.records.iter().filter_map(|record| match record {
            Record::Cell(cell) => Some(cell),
            Record::Run(_) | Record::Footprint(_) => None,
        });
        let told = cells.filter_map(|cell| {
            let what = crate::run::name_of_cell(cell.database, cell.step, cell.connections, cell.target);
            cell.error.as_ref().map(|error| format!("{what}: {error}"))
        });
        told.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// One database and one number of connections, as a Markdown table.
    pub fn table(&self, database: Database, connections: usize) -> String {
        let mut table = String::from(
            "| step | of the floor | per second | floor | p50 µs | p99 µs | p99/p50 | floor's p99 µs | server CPU µs | floor's | \
             database CPU µs | floor's | MiB |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        for step in self.steps() {
            let of = |target| self.medians(database, target, step, connections);
            let (Some(server), Some(floor)) = (of(Target::Server), of(Target::Floor)) else { continue };
            let _ = writeln!(
                table,
                "| {} | {:.0} % | {} | {} | {:.0} | {:.0} | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
                step.name(),
                server.per_second / floor.per_second.max(f64::EPSILON) * 100.0,
                thousands(server.per_second),
                thousands(floor.per_second),
                server.p50,
                server.p99,
                server.p99 / server.p50.max(f64::EPSILON),
                floor.p99,
                server.server_cpu,
                floor.server_cpu,
                server.database_cpu,
                floor.database_cpu,
                server.memory / 1024.0,
            );
        }
        table
    }

    /// First answers, idle memory and program sizes, as a Markdown table.
    pub fn footprints(&self) -> String {
        let mut table =
            String::from("| | first answer ms | idle MiB | program MiB |\n|---|---:|---:|---:|\n");
        for database in self.databases() {
            for (target, name) in [(Target::Server, "server"), (Target::Floor, "floor")] {
                let Some(found) = self.footprint(database, target) else { continue };
                #[expect(clippy::cast_precision_loss, reason = "sizes of programs are exact in a float")]
                let [idle, program] =
                    [found.idle_memory as f64 / 1024.0, found.program as f64 / 1024.0 / 1024.0];
                let _ = writeln!(
                    table,
                    "| {name} on {} | {:.0} | {idle:.1} | {program:.1} |",
                    database.title(),
                    found.first_answer
                );
            }
        }
        table
    }
}

/// The medians over some rounds; `None` if there are none.
pub fn medians_of(cells: &[&Cell]) -> Option<Medians> {
    let of = |value: fn(&Cell) -> f64| median(cells.iter().map(|cell| value(cell)));
    #[expect(clippy::cast_precision_loss, reason = "KiB of memory are exact in a float")]
    let memory = cells.iter().map(|cell| cell.memory).max()? as f64;
    Some(Medians {
        per_second: of(|cell| cell.per_second),
        p50: of(|cell| cell.p50),
        p99: of(|cell| cell.p99),
        server_cpu: of(|cell| cell.server_cpu),
        database_cpu: of(|cell| cell.database_cpu),
        memory,
    })
}

/// A number with commas: 12,345.
pub fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.max(0.0));
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!([0.0, 999.0, 1_000.4, 1_234_567.0].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
