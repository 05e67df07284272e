//! The whole database, for backup, restore and copy: one state of it is read, or one transaction fills it.

mod catalog;
mod rows;

use std::fmt;
use std::path::Path;

use countersign_domain::archive::{CountedTable, Row, Table, TableSum};
use countersign_ports::archive::same_tables;
use countersign_ports::{
    ArchiveError, ArchiveSink, ArchiveSource, ArchiveTarget, BeginFilling, Holdings, RaiseEpoch, TakeRow,
};
use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use time::OffsetDateTime;

use self::catalog::{NumberRow, quoted};
use crate::error::SqliteError;
use crate::file::{DatabaseFile, SetupLock};
use crate::look::{Found, has_table, look};
use crate::ops::epoch::raise_epoch;
use crate::rows::field::micros;
use crate::{migrate, pool};

/// One state of a database, for as long as this value lives. Servers go on writing beside it.
pub struct SqliteArchive {
    connection: SqliteConnection,
    schema: String,
}

impl SqliteArchive {
    /// Opens a database of this release. Creates and changes nothing. Blocks.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let file = DatabaseFile::at(path).map_err(ArchiveError::failed("database could not be named"))?;
        let mut connection = pool::connect_existing(&file, migrate::PATIENCE)
            .map_err(ArchiveError::failed("database could not be opened"))?;
        connection
            .batch_execute("PRAGMA query_only = ON; PRAGMA cache_size = -8000; BEGIN")
            .map_err(ArchiveError::failed("database could not be read"))?;
        if let Some(work) = migrate::unfinished(&mut connection)
            .map_err(ArchiveError::failed("database could not be read"))?
        {
            return Err(ArchiveError::Refused(format!("a {work} did not finish filling this database")));
        }
        // The state is that of the first read.
        let schema =
            migrate::newest(&mut connection).map_err(ArchiveError::failed("migrations could not be read"))?;
        Ok(Self { connection, schema })
    }
}

impl ArchiveSource for SqliteArchive {
    fn schema(&self) -> &str {
        &self.schema
    }

    fn tables(&mut self) -> Result<Vec<CountedTable>, ArchiveError> {
        let tables = catalog::tables(&mut self.connection)?;
        tables.into_iter().map(|table| counted(&mut self.connection, table)).collect()
    }

    fn rows(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<Option<TableSum>, ArchiveError> {
        rows::read(&mut self.connection, table, take).map(|()| None)
    }

    fn close(&mut self) -> Result<(), ArchiveError> {
        Ok(())
    }
}

/// A database to be filled. Nothing is opened or created before the work begins.
pub struct SqliteTarget {
    file: DatabaseFile,
    known: String,
    /// Once the work has begun.
    open: Option<Open>,
}

/// A database that is being filled.
struct Open {
    connection: SqliteConnection,
    /// Servers, commands and other restores that want to set the database up wait.
    _lock: SetupLock,
    /// The table whose rows are taken, and those that are not written yet.
    table: Option<(Table, Vec<Row>)>,
}

impl SqliteTarget {
    /// Names the database.
    pub fn at(path: &Path) -> Result<Self, ArchiveError> {
        let file = DatabaseFile::at(path).map_err(ArchiveError::failed("database could not be named"))?;
        let known = migrate::newest_known().map_err(ArchiveError::failed("migrations could not be read"))?;
        Ok(Self { file, known, open: None })
    }

    fn open(&mut self) -> Result<&mut Open, ArchiveError> {
        self.open.as_mut().ok_or_else(|| ArchiveError::Unsound("the work has not begun".to_owned()))
    }
}

impl Open {
    fn flush(&mut self) -> Result<(), ArchiveError> {
        let Some((table, rows)) = &mut self.table else { return Ok(()) };
        rows::write(&mut self.connection, table, rows)?;
        rows.clear();
        Ok(())
    }
}

impl ArchiveSink for SqliteTarget {
    fn begin_table(&mut self, table: &Table) -> Result<(), ArchiveError> {
        self.open()?.table = Some((table.clone(), Vec::new()));
        Ok(())
    }

    fn row(&mut self, row: Row) -> Result<(), ArchiveError> {
        let open = self.open()?;
        let Some((table, rows)) = &mut open.table else { return Ok(()) };
        rows.push(row);
        if rows.len() >= rows::at_once(table) {
            return open.flush();
        }
        Ok(())
    }

    fn end_table(&mut self, _sum: &TableSum) -> Result<(), ArchiveError> {
        let open = self.open()?;
        open.flush()?;
        open.table = None;
        Ok(())
    }
}

impl ArchiveTarget for SqliteTarget {
    fn known_schema(&self) -> &str {
        &self.known
    }

    fn holdings(&mut self) -> Result<Holdings, ArchiveError> {
        let nothing = Holdings { rows: false, server_seen_at: None };
        let path = self.file.path();
        match look(&path).map_err(ArchiveError::failed("database could not be opened"))? {
            Found::Nothing | Found::Empty => return Ok(nothing),
            Found::Foreign => {
                return Err(ArchiveError::Refused(format!(
                    "{} is not a database of Countersign",
                    path.display()
                )));
            }
            Found::Ours | Found::Unfinished => {}
        }
        let mut connection = pool::connect_existing(&self.file, migrate::PATIENCE)
            .map_err(ArchiveError::failed("database could not be opened"))?;
        let rows = has_rows(&mut connection)?;
        let server_seen_at = if has_table(&mut connection, "replicas")
            .map_err(ArchiveError::failed("tables could not be listed"))?
        {
            let seen: SeenRow = diesel::sql_query("SELECT max(seen_at) AS seen_at FROM replicas")
                .get_result(&mut connection)
                .map_err(ArchiveError::failed("database could not be read"))?;
            seen.seen_at
                .and_then(|micros| OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000).ok())
        } else {
            None
        };
        Ok(Holdings { rows, server_seen_at })
    }

    fn begin(&mut self, begin: &BeginFilling) -> Result<(), ArchiveError> {
        migrate::run_to_fill(&self.file).map_err(ArchiveError::failed("database could not be set up"))?;
        let lock = self.file.prepare().map_err(ArchiveError::failed("database could not be locked"))?;
        let mut connection = pool::connect_existing(&self.file, migrate::PATIENCE)
            .map_err(ArchiveError::failed("database could not be opened"))?;
        let mut mark = || -> Result<(), SqliteError> {
            connection.batch_execute(
                "PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -64000;",
            )?;
            diesel::sql_query("INSERT OR REPLACE INTO unfinished (work, begun_at) VALUES (?, ?)")
                .bind::<Text, _>(begin.filling.name())
                .bind::<BigInt, _>(micros(begin.now))
                .execute(&mut connection)?;
            AnsiTransactionManager::begin_transaction_sql(&mut connection, "BEGIN IMMEDIATE")?;
            Ok(())
        };
        mark().map_err(ArchiveError::failed("database could not be marked"))?;
        let open = self.open.insert(Open { connection, _lock: lock, table: None });
        prepare(&mut open.connection, begin)
    }

    fn stored(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<(), ArchiveError> {
        rows::read(&mut self.open()?.connection, table, take)
    }

    fn finish(&mut self, epoch: Option<&RaiseEpoch>) -> Result<Vec<String>, ArchiveError> {
        let open = self.open()?;
        let connection = &mut open.connection;
        let dangling: Vec<DanglingRow> = diesel::sql_query("PRAGMA foreign_key_check")
            .load(connection)
            .map_err(ArchiveError::failed("references could not be checked"))?;
        if let Some(row) = dangling.first() {
            return Err(ArchiveError::Unsound(format!(
                "rows of {} refer to rows that are not in the archive",
                row.table
            )));
        }
        let migrated = migrate::forward(connection)
            .map_err(ArchiveError::failed("schema could not be brought up to date"))?;
        let mut commit = || -> Result<(), SqliteError> {
            if let Some(command) = epoch {
                raise_epoch(connection, command)?;
            }
            connection.batch_execute("DELETE FROM unfinished")?;
            AnsiTransactionManager::commit_transaction(connection)?;
            Ok(())
        };
        commit().map_err(ArchiveError::failed("rows could not be committed"))?;
        // The log is as large as the database now. It is safe where it is, so a failure means nothing.
        if let Err(error) = connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)") {
            tracing::debug!(error = &error as &dyn std::error::Error, "the log could not be copied yet");
        }
        self.open = None;
        Ok(migrated)
    }

    fn abandon(&mut self) -> Result<(), ArchiveError> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        // After some failures, SQLite has rolled back by itself.
        let _ = open.connection.batch_execute("ROLLBACK");
        let unmarked = open.connection.batch_execute("DELETE FROM unfinished");
        unmarked.map_err(ArchiveError::failed("mark could not be taken away"))
    }
}

/// Empties the tables if that is wanted, and gives them the schema of the rows.
fn prepare(connection: &mut SqliteConnection, begin: &BeginFilling) -> Result<(), ArchiveError> {
    if begin.replaces {
        for table in every_table(connection)?.iter().rev() {
            let delete = format!("DELETE FROM {}", quoted(table));
            connection.batch_execute(&delete).map_err(ArchiveError::failed("tables could not be emptied"))?;
        }
    } else if has_rows(connection)? {
        return Err(ArchiveError::Refused("the database is no longer empty".to_owned()));
    }
    migrate::to(connection, &begin.schema)
        .map_err(ArchiveError::failed("schema of the archive could not be set up"))?;
    let here = catalog::tables(connection)?;
    same_tables(&here, &begin.tables)
}

fn counted(connection: &mut SqliteConnection, table: Table) -> Result<CountedTable, ArchiveError> {
    let count = format!("SELECT count(*) AS number FROM {}", quoted(&table.name));
    let count: NumberRow = diesel::sql_query(count)
        .get_result(connection)
        .map_err(ArchiveError::failed("rows could not be counted"))?;
    Ok(CountedTable { table, rows: u64::try_from(count.number).unwrap_or_default() })
}

fn has_rows(connection: &mut SqliteConnection) -> Result<bool, ArchiveError> {
    for table in catalog::tables(connection)? {
        let exists = format!("SELECT EXISTS (SELECT 1 FROM {}) AS number", quoted(&table.name));
        let exists: NumberRow = diesel::sql_query(exists)
            .get_result(connection)
            .map_err(ArchiveError::failed("rows could not be counted"))?;
        if exists.number != 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The names of all tables whose rows a restore replaces, each after those it refers to.
fn every_table(connection: &mut SqliteConnection) -> Result<Vec<String>, ArchiveError> {
    let archived = catalog::tables(connection)?.into_iter().map(|table| table.name);
    Ok(["access_tokens", "leases", "replicas", "time_mark"]
        .map(str::to_owned)
        .into_iter()
        .chain(archived)
        .collect())
}

impl fmt::Debug for SqliteArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteArchive").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl fmt::Debug for SqliteTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTarget").field("known", &self.known).finish_non_exhaustive()
    }
}

#[derive(QueryableByName)]
struct SeenRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    seen_at: Option<i64>,
}

#[derive(QueryableByName)]
struct DanglingRow {
    #[diesel(sql_type = Text)]
    table: String,
}
