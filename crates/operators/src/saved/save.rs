//! Rows go from a source to a sink.

use countersign_domain::archive::{CountedTable, Row, Summing, Table, TableSum};
use countersign_ports::{ArchiveError, ArchiveSink, ArchiveSource};

/// How far a work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is done now.
    pub step: Step,
    /// The rows that went through.
    pub rows: u64,
    /// All rows that there are.
    pub of: u64,
}

/// The steps of a work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A file is read from beginning to end, before anything is changed.
    Checking,
    /// Rows are stored.
    Storing,
    /// What was stored is read again and compared.
    Comparing,
}

/// Hears how far a work is, and can stop it.
pub type Tell<'a> = dyn FnMut(Progress) -> Result<(), ArchiveError> + 'a;

/// After how many rows to tell.
const EVERY: u64 = 1_024;

/// Gives all rows of the source to the sink, and returns the sum of each table. Fails if the source does not have what it
/// says: another number of rows, or other rows than when it was written.
pub fn save(
    source: &mut dyn ArchiveSource,
    tables: &[CountedTable],
    sink: &mut dyn ArchiveSink,
    step: Step,
    tell: &mut Tell<'_>,
) -> Result<Vec<TableSum>, ArchiveError> {
    let mut counting = Counting::new(step, tables, tell);
    let mut sums = Vec::with_capacity(tables.len());
    for CountedTable { table, rows } in tables {
        let mut summing = Summing::default();
        sink.begin_table(table)?;
        let mut take = |row: Row| {
            summing.add(&row);
            counting.one()?;
            sink.row(row)
        };
        let promised = source.rows(table, &mut take)?;
        let sum = summing.of_table(&table.name);
        if sum.rows != *rows || promised.is_some_and(|promised| promised != sum) {
            return Err(damaged(&table.name));
        }
        sink.end_table(&sum)?;
        sums.push(sum);
    }
    source.close()?;
    counting.tell()?;
    Ok(sums)
}

/// The rows of a table are not those that a backup was made of.
pub(super) fn damaged(table: &str) -> ArchiveError {
    ArchiveError::Unsound(format!("the backup is damaged: the rows of {table} are not those that were saved"))
}

/// Reads everything and keeps nothing.
pub fn check(
    source: &mut dyn ArchiveSource,
    tables: &[CountedTable],
    tell: &mut Tell<'_>,
) -> Result<Vec<TableSum>, ArchiveError> {
    save(source, tables, &mut Nowhere, Step::Checking, tell)
}

/// Takes rows and forgets them.
struct Nowhere;

impl ArchiveSink for Nowhere {
    fn begin_table(&mut self, _table: &Table) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn row(&mut self, _row: Row) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn end_table(&mut self, _sum: &TableSum) -> Result<(), ArchiveError> {
        Ok(())
    }
}

/// Counts rows, and reports progress now and then.
pub(super) struct Counting<'a, 'b> {
    progress: Progress,
    tell: &'a mut Tell<'b>,
}

impl<'a, 'b> Counting<'a, 'b> {
    pub(super) fn new(step: Step, tables: &[CountedTable], tell: &'a mut Tell<'b>) -> Self {
        let of = tables.iter().map(|counted| counted.rows).sum();
        Self { progress: Progress { step, rows: 0, of }, tell }
    }

    pub(super) fn one(&mut self) -> Result<(), ArchiveError> {
        self.progress.rows += 1;
        if self.progress.rows.is_multiple_of(EVERY) { self.tell() } else { Ok(()) }
    }

    pub(super) fn tell(&mut self) -> Result<(), ArchiveError> {
        (self.tell)(self.progress)
    }
}
