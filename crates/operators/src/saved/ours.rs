//! What is ours in a backup. An older release also saved tables and columns of other programs: they are left out, and named.

use countersign_domain::archive::{CountedTable, ForeignPart, Layout, Row, Summing, Table, TableSum};
use countersign_ports::{ArchiveError, ArchiveSource, TakeRow};

use super::save::damaged;

/// A source, without what no migration of ours created.
#[derive(Debug)]
pub struct Ours<S> {
    inner: S,
    layout: Layout,
    all: Vec<CountedTable>,
    /// How many of all tables were read.
    read: usize,
}

impl<S: ArchiveSource> Ours<S> {
    /// Leaves out what this layout does not have.
    pub fn of(mut inner: S, layout: Layout) -> Result<Self, ArchiveError> {
        let all = inner.tables()?;
        Ok(Self { inner, layout, all, read: 0 })
    }

    /// Reads a table of the source. Values of columns that are not ours are dropped; `take` is not called for a table that is not ours.
    fn pass(&mut self, of: &CountedTable, take: &mut TakeRow<'_>) -> Result<Option<TableSum>, ArchiveError> {
        let table = &of.table;
        let Some(columns) = self.layout.columns(&table.name) else {
            return self.checked(of, &mut |_| Ok(()));
        };
        let ours: Vec<bool> = table.columns.iter().map(|column| columns.contains(&column.name)).collect();
        if ours.iter().all(|is_ours| *is_ours) {
            return self.inner.rows(table, take);
        }
        self.checked(of, &mut |row| {
            take(
                row.into_iter().zip(&ours).filter(|(_, is_ours)| **is_ours).map(|(value, _)| value).collect(),
            )
        })
    }

    /// Compares the sum here: what is passed on has another one.
    fn checked(
        &mut self,
        of: &CountedTable,
        take: &mut TakeRow<'_>,
    ) -> Result<Option<TableSum>, ArchiveError> {
        let mut summing = Summing::default();
        let known = self.inner.rows(&of.table, &mut |row: Row| {
            summing.add(&row);
            take(row)
        })?;
        let sum = summing.of_table(&of.table.name);
        if sum.rows != of.rows || known.is_some_and(|known| known != sum) {
            return Err(damaged(&of.table.name));
        }
        Ok(None)
    }
}

impl<S: ArchiveSource> ArchiveSource for Ours<S> {
    fn schema(&self) -> &str {
        self.inner.schema()
    }

    fn tables(&mut self) -> Result<Vec<CountedTable>, ArchiveError> {
        let ours = self.all.iter().filter_map(|CountedTable { table, rows }| {
            let known = self.layout.columns(&table.name)?;
            let mut columns = table.columns.clone();
            columns.retain(|column| known.contains(&column.name));
            Some(CountedTable { table: Table { name: table.name.clone(), columns }, rows: *rows })
        });
        Ok(ours.collect())
    }

    fn foreign(&mut self) -> Result<Vec<ForeignPart>, ArchiveError> {
        let mut foreign = self.inner.foreign()?;
        for CountedTable { table, .. } in &self.all {
            match self.layout.columns(&table.name) {
                None => foreign.push(ForeignPart::Table { name: table.name.clone() }),
                Some(known) => {
                    let others = table.columns.iter().filter(|column| !known.contains(&column.name));
                    foreign.extend(others.map(|column| ForeignPart::Column {
                        table: table.name.clone(),
                        name: column.name.clone(),
                        is_required: false,
                    }));
                }
            }
        }
        Ok(foreign)
    }

    fn rows(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<Option<TableSum>, ArchiveError> {
        while let Some(next) = self.all.get(self.read).cloned() {
            self.read += 1;
            if next.table.name == table.name {
                return self.pass(&next, take);
            }
            self.pass(&next, &mut |_| Ok(()))?;
        }
        Err(damaged(&table.name))
    }

    fn close(&mut self) -> Result<(), ArchiveError> {
        while let Some(next) = self.all.get(self.read).cloned() {
            self.read += 1;
            self.pass(&next, &mut |_| Ok(()))?;
        }
        self.inner.close()
    }
}
