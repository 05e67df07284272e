//! Reading a whole database and filling one: what backup, restore and copy are made of.
//!
//! These traits block. A command does one such work and nothing beside it, on a thread of its own, over connections
//! of its own; no request of a server comes this way.
//!
//! An archive has every table and column that our migrations created, but those that belong to this one database and its processes
//! ([`OF_PROCESSES`]) or to one kind of database (SQLite's `access_tokens` and `time_mark`, which are made again). Everything else belongs to
//! other programs: it is named, and neither saved nor changed.

use std::fmt;

use countersign_domain::archive::{CountedTable, ForeignPart, Layout, Row, Table, TableSum};
use countersign_domain::epoch::Filling;
use countersign_domain::id::FillingId;
use time::OffsetDateTime;

use crate::RaiseEpoch;
use crate::error::Source;

/// The tables of one database and of the processes that run on it, which no archive has.
pub const OF_PROCESSES: [&str; 4] = ["fillings", "leases", "replicas", "unfinished"];

/// An archive could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The database or the file system refused. Nothing can be said about the archive.
    #[error("{attempted}")]
    Failed {
        /// What failed, as a fragment.
        attempted: &'static str,
        /// The cause.
        #[source]
        source: Source,
    },
    /// The archive is not what it should be.
    #[error("{0}")]
    Unsound(String),
    /// Something was there before, and it may not be replaced.
    #[error("{0}")]
    Refused(String),
}

impl ArchiveError {
    /// What an error of the database or the file system means here, by what was attempted.
    pub fn failed<E: std::error::Error + Send + Sync + 'static>(
        attempted: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |error| Self::Failed { attempted, source: Box::new(error) }
    }
}

/// Fails unless these are the same tables. Their order does not matter.
pub fn same_tables(here: &[Table], there: &[Table]) -> Result<(), ArchiveError> {
    let missing = here.iter().find(|table| !there.contains(table));
    match missing.or_else(|| there.iter().find(|table| !here.contains(table))) {
        None => Ok(()),
        Some(table) => Err(ArchiveError::Unsound(format!(
            "the table {} is not the same in the archive and in the schema that the archive names",
            table.name
        ))),
    }
}

/// Takes rows, and can refuse to go on.
pub type TakeRow<'a> = dyn FnMut(Row) -> Result<(), ArchiveError> + 'a;

/// Whatever an archive is read from: one consistent state of a database, or a file.
pub trait ArchiveSource: Send {
    /// The version of the newest migration of what is read.
    fn schema(&self) -> &str;

    /// The tables, in an order in which references hold, with the number of their rows. All of it is of the same
    /// state as the rows.
    fn tables(&mut self) -> Result<Vec<CountedTable>, ArchiveError>;

    /// What is in a database beside our tables, or in a file beside what our migrations create. It is not part of the archive.
    fn foreign(&mut self) -> Result<Vec<ForeignPart>, ArchiveError>;

    /// Gives all rows of a table, in the order of their keys, byte by byte. The tables are asked for in the order of
    /// [`ArchiveSource::tables`], each once. A source that was written once says which sum the rows had then.
    fn rows(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<Option<TableSum>, ArchiveError>;

    /// Checks what can be checked only after the last row.
    fn close(&mut self) -> Result<(), ArchiveError>;
}

/// Whatever an archive is written to.
pub trait ArchiveSink: Send {
    /// Begins a table. Its rows follow.
    fn begin_table(&mut self, table: &Table) -> Result<(), ArchiveError>;

    /// Takes a row of this table.
    fn row(&mut self, row: Row) -> Result<(), ArchiveError>;

    /// Ends the table: all of its rows are taken, and this is their sum.
    fn end_table(&mut self, sum: &TableSum) -> Result<(), ArchiveError>;
}

/// What there is in a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Has one of the tables of an archive a row, other than those that a server writes by its own start?
    pub rows: bool,
    /// When a server last said that it runs on this database.
    pub server_seen_at: Option<OffsetDateTime>,
    /// The time by the clock of the database. `None` if it has none but that of this machine.
    pub clock: Option<OffsetDateTime>,
    /// What belongs to other programs.
    pub foreign: Vec<ForeignPart>,
}

/// How a database is filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeginFilling {
    /// Which work it is.
    pub filling: Filling,
    /// The time of now.
    pub now: OffsetDateTime,
    /// The schema that the rows have. The tables are brought to it, and afterwards to that of this release.
    pub schema: String,
    /// The tables that will be given.
    pub tables: Vec<Table>,
    /// Is what is there removed first? Otherwise anything that is there is an error.
    pub replaces: bool,
    /// When a server was last seen, as it was judged. If one says meanwhile that it runs, nothing is filled.
    pub server_seen_at: Option<OffsetDateTime>,
}

/// How the filling of a database ends.
#[derive(Clone, Copy, Debug)]
pub struct FinishFilling<'a> {
    /// By which running servers notice that it was filled.
    pub id: FillingId,
    /// The time of now.
    pub now: OffsetDateTime,
    /// The epoch to begin, if there is one.
    pub epoch: Option<&'a RaiseEpoch>,
}

/// What became of the mark that a restore or a copy left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkRemoved {
    /// There was none.
    NoMark,
    /// It is gone, and the data that were there before the interrupted work can be used again.
    DataUsable,
    /// It is gone, and there are no data in the database.
    NothingThere,
}

/// A database that an archive is written to.
///
/// Everything between [`begin`](ArchiveTarget::begin) and [`finish`](ArchiveTarget::finish) is one transaction. If tables of ours are there
/// already, a mark that the work is unfinished is committed before it; the transaction takes the mark away. So whenever the process dies, what
/// was there is there, with the mark, and nothing else uses the database until the work is repeated or the mark removed. In a
/// database without tables of ours the transaction creates them, so that nothing is there if the process dies.
///
/// What belongs to other programs stays as it is: tables and their rows, columns of our tables with their values in rows that come back, views and
/// triggers. Foreign triggers on our tables do not fire, unless the role may not switch them off.
pub trait ArchiveTarget: ArchiveSink {
    /// The version of the newest migration of this release.
    fn known_schema(&self) -> &str;

    /// The tables and columns that the migrations up to this version create. Tables of one kind of database are not among them.
    fn layout(&self, schema: &str) -> Layout;

    /// What is there now. Creates and changes nothing.
    fn holdings(&mut self) -> Result<Holdings, ArchiveError>;

    /// Creates the database if there is none, commits the mark if one is needed, and begins the transaction. If the schema is that of the archive,
    /// this needs rights on rows only. Fails if the tables are not those of the schema, if another process is filling the database, or if a server
    /// said since it was judged that it runs.
    fn begin(&mut self, begin: &BeginFilling) -> Result<(), ArchiveError>;

    /// Reads back what was stored, like [`ArchiveSource::rows`].
    fn stored(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<(), ArchiveError>;

    /// Checks that every reference leads somewhere, brings the schema up to date, begins an epoch if there is one to
    /// begin, takes the mark away and commits. Returns the names of the migrations that ran.
    fn finish(&mut self, finish: &FinishFilling<'_>) -> Result<Vec<String>, ArchiveError>;

    /// Takes everything back, and the mark away; files that were not there are gone. For a work that failed while the database still answers.
    fn abandon(&mut self) -> Result<(), ArchiveError>;

    /// Takes away the mark of a work that was interrupted. Refused while that work still goes on.
    fn remove_mark(&mut self) -> Result<MarkRemoved, ArchiveError>;
}

impl fmt::Debug for dyn ArchiveSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArchiveSource").field("schema", &self.schema()).finish_non_exhaustive()
    }
}

impl fmt::Debug for dyn ArchiveTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArchiveTarget").field("known_schema", &self.known_schema()).finish_non_exhaustive()
    }
}
