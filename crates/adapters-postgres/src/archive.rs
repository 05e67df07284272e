//! The whole database, for backup, restore and copy: one state of it is read, or one transaction fills it.

mod catalog;
mod rows;

use std::fmt;

use countersign_domain::archive::{CountedTable, Row, Table, TableSum};
use countersign_ports::archive::same_tables;
use countersign_ports::{
    ArchiveError, ArchiveSink, ArchiveSource, ArchiveTarget, BeginFilling, Holdings, RaiseEpoch, TakeRow,
};
use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text, Timestamptz};
use time::OffsetDateTime;

use self::catalog::{NumberRow, Types, quoted};
use crate::connection::ConnectionUrl;
use crate::error::OpError;
use crate::look::{Found, has_table, look};
use crate::migrate;
use crate::ops::epoch::raise_epoch;

/// Nothing that a role or a database sets may cut a long work off.
const PATIENT: &str = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; \
    SET LOCAL lock_timeout = '30s'; SET LOCAL synchronous_commit = on";

/// Taken until the end of the transaction that fills the database. The number spells `refilled` in ASCII.
const LOCK: &str = "SELECT pg_try_advisory_xact_lock(x'726566696c6c6564'::bigint) AS is_so";

/// One state of a database, for as long as this value lives. Servers go on writing beside it.
pub struct PgArchive {
    connection: PgConnection,
    schema: String,
}

impl PgArchive {
    /// Opens a database of this release. Changes nothing. Blocks.
    pub fn open(url: &str) -> Result<Self, ArchiveError> {
        let mut connection = open(url)?;
        AnsiTransactionManager::begin_transaction_sql(
            &mut connection,
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        )
        .map_err(ArchiveError::failed("database could not be read"))?;
        connection.batch_execute(PATIENT).map_err(ArchiveError::failed("database could not be read"))?;
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

impl ArchiveSource for PgArchive {
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

/// A database to be filled. Nothing is changed before the work begins.
pub struct PgTarget {
    url: String,
    known: String,
    /// Once the work has begun.
    open: Option<Open>,
}

/// A database that is being filled.
struct Open {
    /// Its transaction holds the lock.
    connection: PgConnection,
    types: Types,
    /// The table whose rows are taken, and those that are not written yet.
    table: Option<(Table, Vec<Row>)>,
}

impl PgTarget {
    /// Names the database.
    pub fn at(url: &str) -> Result<Self, ArchiveError> {
        let known = migrate::newest_known().map_err(ArchiveError::failed("migrations could not be read"))?;
        Ok(Self { url: url.to_owned(), known, open: None })
    }

    fn open(&mut self) -> Result<&mut Open, ArchiveError> {
        self.open.as_mut().ok_or_else(|| ArchiveError::Unsound("the work has not begun".to_owned()))
    }
}

impl Open {
    fn flush(&mut self) -> Result<(), ArchiveError> {
        let Some((table, rows)) = &mut self.table else { return Ok(()) };
        rows::write(&mut self.connection, &self.types, table, rows)?;
        rows.clear();
        Ok(())
    }
}

impl ArchiveSink for PgTarget {
    fn begin_table(&mut self, table: &Table) -> Result<(), ArchiveError> {
        self.open()?.table = Some((table.clone(), Vec::new()));
        Ok(())
    }

    fn row(&mut self, row: Row) -> Result<(), ArchiveError> {
        let open = self.open()?;
        let Some((_, rows)) = &mut open.table else { return Ok(()) };
        rows.push(row);
        if rows.len() >= rows::ROWS {
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

impl ArchiveTarget for PgTarget {
    fn known_schema(&self) -> &str {
        &self.known
    }

    fn holdings(&mut self) -> Result<Holdings, ArchiveError> {
        match look(&self.url).map_err(ArchiveError::failed("database could not be opened"))? {
            Found::Nothing => return Ok(Holdings { rows: false, server_seen_at: None }),
            Found::Ours | Found::Unfinished => {}
        }
        let mut connection = open(&self.url)?;
        let rows = has_rows(&mut connection)?;
        let server_seen_at = if has_table(&mut connection, "replicas")
            .map_err(ArchiveError::failed("tables could not be listed"))?
        {
            let seen: SeenRow = diesel::sql_query("SELECT max(seen_at) AS seen_at FROM replicas")
                .get_result(&mut connection)
                .map_err(ArchiveError::failed("database could not be read"))?;
            seen.seen_at
        } else {
            None
        };
        Ok(Holdings { rows, server_seen_at })
    }

    fn begin(&mut self, begin: &BeginFilling) -> Result<(), ArchiveError> {
        let url =
            ConnectionUrl::parse(&self.url).map_err(ArchiveError::failed("database could not be opened"))?;
        migrate::run_to_fill(&url).map_err(ArchiveError::failed("database could not be set up"))?;
        let mut connection = open(&self.url)?;
        AnsiTransactionManager::begin_transaction_sql(
            &mut connection,
            "BEGIN ISOLATION LEVEL READ COMMITTED",
        )
        .map_err(ArchiveError::failed("transaction could not begin"))?;
        connection.batch_execute(PATIENT).map_err(ArchiveError::failed("transaction could not begin"))?;
        let lock: TruthRow = diesel::sql_query(LOCK)
            .get_result(&mut connection)
            .map_err(ArchiveError::failed("database could not be locked"))?;
        if !lock.is_so {
            return Err(ArchiveError::Refused("another process is filling this database".to_owned()));
        }
        let mut marking = open(&self.url)?;
        diesel::sql_query(
            "INSERT INTO unfinished (work, begun_at) VALUES ($1, $2) \
             ON CONFLICT (work) DO UPDATE SET begun_at = excluded.begun_at",
        )
        .bind::<Text, _>(begin.filling.name())
        .bind::<Timestamptz, _>(begin.now)
        .execute(&mut marking)
        .map_err(ArchiveError::failed("database could not be marked"))?;
        let open = self.open.insert(Open { connection, types: Types::new(), table: None });
        open.types = prepare(&mut open.connection, begin)?;
        Ok(())
    }

    fn stored(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<(), ArchiveError> {
        rows::read(&mut self.open()?.connection, table, take)
    }

    fn finish(&mut self, epoch: Option<&RaiseEpoch>) -> Result<Vec<String>, ArchiveError> {
        let open = self.open()?;
        let connection = &mut open.connection;
        let migrated = migrate::forward(connection)
            .map_err(ArchiveError::failed("schema could not be brought up to date"))?;
        let mut commit = || -> Result<(), OpError> {
            if let Some(command) = epoch {
                raise_epoch(connection, command)?;
            }
            connection.batch_execute("DELETE FROM unfinished")?;
            AnsiTransactionManager::commit_transaction(connection)?;
            Ok(())
        };
        commit().map_err(ArchiveError::failed("rows could not be committed"))?;
        self.open = None;
        Ok(migrated)
    }

    fn abandon(&mut self) -> Result<(), ArchiveError> {
        let Some(mut opened) = self.open.take() else { return Ok(()) };
        // It may have failed because the connection did.
        let _ = opened.connection.batch_execute("ROLLBACK");
        let mut connection = open(&self.url)?;
        connection
            .batch_execute("DELETE FROM unfinished")
            .map_err(ArchiveError::failed("mark could not be taken away"))
    }
}

fn open(url: &str) -> Result<PgConnection, ArchiveError> {
    let opened = ConnectionUrl::parse(url).and_then(|url| url.open());
    opened.map_err(ArchiveError::failed("database could not be opened"))
}

/// Empties the tables if that is wanted, and gives them the schema of the rows.
fn prepare(connection: &mut PgConnection, begin: &BeginFilling) -> Result<Types, ArchiveError> {
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
    same_tables(&here, &begin.tables)?;
    catalog::types(connection)
}

fn counted(connection: &mut PgConnection, table: Table) -> Result<CountedTable, ArchiveError> {
    let count = format!("SELECT count(*) AS number FROM {}", quoted(&table.name));
    let count: NumberRow = diesel::sql_query(count)
        .get_result(connection)
        .map_err(ArchiveError::failed("rows could not be counted"))?;
    Ok(CountedTable { table, rows: u64::try_from(count.number).unwrap_or_default() })
}

fn has_rows(connection: &mut PgConnection) -> Result<bool, ArchiveError> {
    for table in catalog::tables(connection)? {
        let exists = format!("SELECT EXISTS (SELECT FROM {}) AS is_so", quoted(&table.name));
        let exists: TruthRow = diesel::sql_query(exists)
            .get_result(connection)
            .map_err(ArchiveError::failed("rows could not be counted"))?;
        if exists.is_so {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The names of all tables whose rows a restore replaces, each after those it refers to.
fn every_table(connection: &mut PgConnection) -> Result<Vec<String>, ArchiveError> {
    let archived = catalog::tables(connection)?.into_iter().map(|table| table.name);
    Ok(["leases", "replicas"].map(str::to_owned).into_iter().chain(archived).collect())
}

impl fmt::Debug for PgArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgArchive").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl fmt::Debug for PgTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgTarget").field("known", &self.known).finish_non_exhaustive()
    }
}

#[derive(QueryableByName)]
struct SeenRow {
    #[diesel(sql_type = Nullable<Timestamptz>)]
    seen_at: Option<OffsetDateTime>,
}

#[derive(QueryableByName)]
struct TruthRow {
    #[diesel(sql_type = Bool)]
    is_so: bool,
}
