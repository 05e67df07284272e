//! The whole database, for backup, restore and copy: one state of it is read, or one transaction fills it.

mod rows;

use std::fmt;
use std::path::Path;

use countersign_domain::archive::{CountedTable, ForeignPart, Layout, OwnStart, Row, Table, TableSum};
use countersign_ports::archive::same_tables;
use countersign_ports::{
    ArchiveError, ArchiveSink, ArchiveSource, ArchiveTarget, BeginFilling, FinishFilling, Holdings,
    MarkRemoved, TakeRow,
};
use countersign_sql::columns::micros;
use countersign_sql::ops::upkeep::epoch::raise_epoch;
use countersign_sql::setup::migrate::{
    Unfinished, forward, has_table, made, made_here, newest, newest_known, to, unfinished,
};
use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use time::OffsetDateTime;

use crate::error::SqliteError;
use crate::file::{DatabaseFile, SetupLock};
use crate::pool;
use crate::setup::catalog::{NumberRow, quoted};
use crate::setup::look::{Found, look};
use crate::setup::{catalog, migrate};

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
        if let Some(Unfinished { work }) =
            unfinished(&mut connection).map_err(ArchiveError::failed("database could not be read"))?
        {
            return Err(ArchiveError::Refused(format!("a {work} did not finish filling this database")));
        }
        // The state is that of the first read.
        let schema = newest(&mut connection).map_err(ArchiveError::failed("migrations could not be read"))?;
        if schema.as_str() > newest_known::<SqliteConnection>() {
            return Err(ArchiveError::Refused(format!(
                "the database has the schema of a newer release ({schema}), and this release would leave out what it does not \
                 know; use that release"
            )));
        }
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

    fn foreign(&mut self) -> Result<Vec<ForeignPart>, ArchiveError> {
        foreign(&mut self.connection)
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
    /// Once the work has begun.
    open: Option<Open>,
}

/// A database that is being filled.
struct Open {
    connection: SqliteConnection,
    /// Servers, commands and other restores that want to set the database up wait.
    lock: SetupLock,
    /// What belongs to other programs, at the beginning.
    foreign: Vec<ForeignPart>,
    /// The statements that make the foreign triggers again, which are gone meanwhile.
    silenced: Vec<String>,
    /// The statements that bring the values of foreign columns back.
    kept: Vec<String>,
    /// The table whose rows are taken, and those that are not written yet.
    table: Option<(Table, Vec<Row>)>,
}

impl SqliteTarget {
    /// Names the database.
    pub fn at(path: &Path) -> Result<Self, ArchiveError> {
        let file = DatabaseFile::at(path).map_err(ArchiveError::failed("database could not be named"))?;
        Ok(Self { file, open: None })
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
        newest_known::<SqliteConnection>()
    }

    fn layout(&self, schema: &str) -> Layout {
        catalog::layout(&made::<SqliteConnection>(|version| version <= schema))
    }

    fn holdings(&mut self) -> Result<Holdings, ArchiveError> {
        if !has_tables(&self.file)? {
            return Ok(Holdings::default());
        }
        let mut connection = pool::connect_existing(&self.file, migrate::PATIENCE)
            .map_err(ArchiveError::failed("database could not be opened"))?;
        Ok(Holdings {
            rows: has_rows(&mut connection)?,
            server_seen_at: server_seen_at(&mut connection)?,
            clock: None,
            foreign: foreign(&mut connection)?,
        })
    }

    fn begin(&mut self, begin: &BeginFilling) -> Result<(), ArchiveError> {
        if has_tables(&self.file)? && !has_mark_table(&mut self.connect()?)? {
            // A release older than the mark.
            migrate::run_to_fill(&self.file).map_err(ArchiveError::failed("database could not be set up"))?;
        }
        let lock = self.file.prepare().map_err(ArchiveError::failed("database could not be locked"))?;
        let connection = match self.connect() {
            Ok(connection) => connection,
            Err(error) => {
                lock.remove_what_was_made(&self.file.path());
                return Err(error);
            }
        };
        let open = self.open.insert(Open {
            connection,
            lock,
            foreign: Vec::new(),
            silenced: Vec::new(),
            kept: Vec::new(),
            table: None,
        });
        let mut mark = || -> Result<(), SqliteError> {
            let connection = &mut open.connection;
            connection.batch_execute(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -64000;",
            )?;
            // Without tables, nothing is there if the process dies.
            if has_table(connection, "unfinished")? {
                diesel::sql_query("INSERT OR REPLACE INTO unfinished (work, begun_at) VALUES (?, ?)")
                    .bind::<Text, _>(begin.filling.name())
                    .bind::<BigInt, _>(micros(begin.now))
                    .execute(connection)?;
            }
            AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")?;
            Ok(())
        };
        mark().map_err(ArchiveError::failed("database could not be marked"))?;
        prepare(open, begin)
    }

    fn stored(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<(), ArchiveError> {
        rows::read(&mut self.open()?.connection, table, take)
    }

    fn finish(&mut self, finish: &FinishFilling<'_>) -> Result<Vec<String>, ArchiveError> {
        let open = self.open()?;
        let connection = &mut open.connection;
        let dangling =
            migrate::dangling(connection).map_err(ArchiveError::failed("references could not be checked"))?;
        if let Some((table, _)) = dangling {
            return Err(ArchiveError::Unsound(format!(
                "rows of {table} refer to rows that are not in the archive"
            )));
        }
        let migrated =
            forward(connection).map_err(ArchiveError::failed("schema could not be brought up to date"))?;
        for statement in open.kept.iter().chain(&open.silenced) {
            connection
                .batch_execute(statement)
                .map_err(ArchiveError::failed("what belongs to another program could not be put back"))?;
        }
        let foreign = foreign(connection)?;
        if let Some(lost) = open.foreign.iter().find(|part| !foreign.contains(part)) {
            return Err(lost_on_the_way(lost));
        }
        let mut commit = || -> Result<(), SqliteError> {
            if let Some(command) = finish.epoch {
                raise_epoch(connection, command)?;
            }
            connection.batch_execute("DELETE FROM unfinished; DELETE FROM fillings")?;
            let id = finish.id.as_uuid();
            diesel::sql_query("INSERT INTO fillings (id, filled_at) VALUES (?, ?)")
                .bind::<Binary, _>(id.as_bytes().as_slice())
                .bind::<BigInt, _>(micros(finish.now))
                .execute(connection)?;
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
        let Some(Open { mut connection, lock, .. }) = self.open.take() else { return Ok(()) };
        // After some failures, SQLite has rolled back by itself.
        let _ = connection.batch_execute("ROLLBACK");
        let unmarked = match has_mark_table(&mut connection) {
            Ok(false) => Ok(()),
            Ok(true) | Err(_) => connection
                .batch_execute("DELETE FROM unfinished")
                .map_err(ArchiveError::failed("mark could not be taken away")),
        };
        drop(connection);
        lock.remove_what_was_made(&self.file.path());
        unmarked
    }

    fn remove_mark(&mut self) -> Result<MarkRemoved, ArchiveError> {
        match look(&self.file.path()).map_err(ArchiveError::failed("database could not be opened"))? {
            Found::Unfinished => {}
            Found::Ours | Found::Nothing | Found::Empty | Found::Foreign => return Ok(MarkRemoved::NoMark),
        }
        let lock = self.file.try_prepare().map_err(ArchiveError::failed("database could not be locked"))?;
        let Some(_lock) = lock else {
            return Err(ArchiveError::Refused("another process is filling this database".to_owned()));
        };
        let mut connection = self.connect()?;
        connection
            .batch_execute("DELETE FROM unfinished")
            .map_err(ArchiveError::failed("mark could not be taken away"))?;
        Ok(if has_rows(&mut connection)? { MarkRemoved::DataUsable } else { MarkRemoved::NothingThere })
    }
}

impl SqliteTarget {
    fn connect(&self) -> Result<SqliteConnection, ArchiveError> {
        pool::connect_existing(&self.file, migrate::PATIENCE)
            .map_err(ArchiveError::failed("database could not be opened"))
    }
}

/// Are tables of ours at this place? What is there and is not ours is an error.
fn has_tables(file: &DatabaseFile) -> Result<bool, ArchiveError> {
    let path = file.path();
    match look(&path).map_err(ArchiveError::failed("database could not be opened"))? {
        Found::Nothing | Found::Empty => Ok(false),
        Found::Ours | Found::Unfinished => Ok(true),
        Found::Foreign => {
            Err(ArchiveError::Refused(format!("{} is not a database of Countersign", path.display())))
        }
    }
}

fn has_mark_table(connection: &mut SqliteConnection) -> Result<bool, ArchiveError> {
    has_table(connection, "unfinished").map_err(ArchiveError::failed("tables could not be listed"))
}

fn server_seen_at(connection: &mut SqliteConnection) -> Result<Option<OffsetDateTime>, ArchiveError> {
    if !has_table(connection, "replicas").map_err(ArchiveError::failed("tables could not be listed"))? {
        return Ok(None);
    }
    let seen: SeenRow = diesel::sql_query("SELECT max(seen_at) AS seen_at FROM replicas")
        .get_result(connection)
        .map_err(ArchiveError::failed("database could not be read"))?;
    Ok(seen
        .seen_at
        .and_then(|micros| OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000).ok()))
}

fn foreign(connection: &mut SqliteConnection) -> Result<Vec<ForeignPart>, ArchiveError> {
    let foreign = made_here(connection).and_then(|made| catalog::foreign(connection, &made));
    foreign.map_err(ArchiveError::failed("tables could not be listed"))
}

/// Going back to an older schema would remove what belongs to another program.
fn lost_on_the_way(lost: &ForeignPart) -> ArchiveError {
    ArchiveError::Refused(format!(
        "the backup has an older schema, and going through it would remove the {lost}, which belongs to another program; nothing \
         was changed. Restore into an empty database"
    ))
}

/// Empties the tables, and gives them the schema of the rows.
fn prepare(open: &mut Open, begin: &BeginFilling) -> Result<(), ArchiveError> {
    let connection = &mut open.connection;
    // The mark is there by now: a server that looks from now on does not go on, and one that said before that it runs is seen here.
    if server_seen_at(connection)? != begin.server_seen_at {
        return Err(ArchiveError::Refused(
            "a server was started on the database meanwhile; stop it".to_owned(),
        ));
    }
    if !begin.replaces && has_rows(connection)? {
        return Err(ArchiveError::Refused("the database is no longer empty".to_owned()));
    }
    let not_listed = || ArchiveError::failed("tables could not be listed");
    let made = made_here(connection).map_err(not_listed())?;
    open.foreign = catalog::foreign(connection, &made).map_err(not_listed())?;
    let aside = || ArchiveError::failed("what belongs to another program could not be put aside");
    for (name, statement) in catalog::triggers(connection, &made).map_err(not_listed())? {
        connection.batch_execute(&format!("DROP TRIGGER {}", quoted(&name))).map_err(aside())?;
        open.silenced.push(statement);
    }
    for (table, columns) in catalog::foreign_columns(connection, &made).map_err(not_listed())? {
        let (keep, bring_back) = statements_to_keep(connection, &table, &columns)?;
        connection.batch_execute(&keep).map_err(aside())?;
        open.kept.push(bring_back);
    }
    for table in every_table(connection)?.iter().rev() {
        let delete = format!("DELETE FROM {}", quoted(table));
        connection.batch_execute(&delete).map_err(ArchiveError::failed("tables could not be emptied"))?;
    }
    to(connection, &begin.schema)
        .map_err(ArchiveError::failed("schema of the archive could not be set up"))?;
    let here = catalog::tables(connection)?;
    same_tables(&here, &begin.tables)
}

/// The statements that put the values of foreign columns aside, and that bring them back to the rows that come back.
fn statements_to_keep(
    connection: &mut SqliteConnection,
    table: &str,
    columns: &[String],
) -> Result<(String, String), ArchiveError> {
    let list = |names: &[String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let key = catalog::key(connection, table)?;
    let (key, columns, table, aside) =
        (list(&key), list(columns), quoted(table), quoted(&format!("aside_{table}")));
    Ok((
        format!("CREATE TEMP TABLE {aside} AS SELECT {key}, {columns} FROM main.{table}"),
        format!(
            "UPDATE main.{table} AS t SET ({columns}) = (SELECT {columns} FROM temp.{aside} WHERE ({key}) = ({})) \
             WHERE ({key}) IN (SELECT {key} FROM temp.{aside})",
            key.split(", ").map(|name| format!("t.{name}")).collect::<Vec<_>>().join(", ")
        ),
    ))
}

fn counted(connection: &mut SqliteConnection, table: Table) -> Result<CountedTable, ArchiveError> {
    let count = format!("SELECT count(*) AS number FROM {}", quoted(&table.name));
    let count: NumberRow = diesel::sql_query(count)
        .get_result(connection)
        .map_err(ArchiveError::failed("rows could not be counted"))?;
    Ok(CountedTable { table, rows: u64::try_from(count.number).unwrap_or_default() })
}

/// Is there a row that a server does not write by its own start?
fn has_rows(connection: &mut SqliteConnection) -> Result<bool, ArchiveError> {
    for table in catalog::tables(connection)? {
        let except = match OwnStart::of(&table.name) {
            OwnStart::Every => continue,
            OwnStart::None => String::new(),
            OwnStart::Kinds(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{}'", kind.name())).collect();
                format!(" WHERE kind NOT IN ({})", kinds.join(", "))
            }
        };
        let exists = format!("SELECT EXISTS (SELECT 1 FROM {}{except}) AS number", quoted(&table.name));
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
    let made = made_here(connection).map_err(ArchiveError::failed("tables could not be listed"))?;
    let beside = ["access_tokens", "leases", "replicas", "time_mark"];
    let beside = beside.into_iter().filter(|table| made.tables.contains_key(*table));
    Ok(beside.map(str::to_owned).chain(archived).collect())
}

impl fmt::Debug for SqliteArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteArchive").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl fmt::Debug for SqliteTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTarget").finish_non_exhaustive()
    }
}

#[derive(QueryableByName)]
struct SeenRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    seen_at: Option<i64>,
}
