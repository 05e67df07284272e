//! The whole database, for backup, restore and copy: one state of it is read, or one transaction fills it.

mod rows;

use std::collections::BTreeSet;
use std::fmt;

use countersign_domain::archive::{CountedTable, ForeignPart, Layout, OwnStart, Row, Table, TableSum};
use countersign_ports::archive::same_tables;
use countersign_ports::{
    ArchiveError, ArchiveSink, ArchiveSource, ArchiveTarget, BeginFilling, FinishFilling, Holdings,
    MarkRemoved, TakeRow,
};
use countersign_sql::ops::upkeep::epoch::raise_epoch;
use countersign_sql::setup::migrate::{
    Unfinished, forward, has_table, made, made_here, newest, newest_known, to, unfinished,
};
use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;

use crate::connect::connection::ConnectionUrl;
use crate::error::OpError;
use crate::setup::catalog::{NumberRow, TriggerRow, Types, quoted};
use crate::setup::look::{Found, look};
use crate::setup::{catalog, migrate};

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
        if let Some(Unfinished { work }) =
            unfinished(&mut connection).map_err(ArchiveError::failed("database could not be read"))?
        {
            return Err(ArchiveError::Refused(format!("a {work} did not finish filling this database")));
        }
        // The state is that of the first read.
        let schema = newest(&mut connection).map_err(ArchiveError::failed("migrations could not be read"))?;
        if schema.as_str() > newest_known::<PgConnection>() {
            return Err(ArchiveError::Refused(format!(
                "the database has the schema of a newer release ({schema}), and this release would leave out what it does not \
                 know; use that release"
            )));
        }
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

/// A database to be filled. Nothing is changed before the work begins.
pub struct PgTarget {
    url: String,
    /// Once the work has begun.
    open: Option<Open>,
}

/// A database that is being filled.
struct Open {
    /// Its transaction holds the lock.
    connection: PgConnection,
    types: Types,
    /// What belongs to other programs, at the beginning.
    foreign: Vec<ForeignPart>,
    /// The foreign triggers that are switched off meanwhile.
    silenced: Vec<TriggerRow>,
    /// Tables whose rows are not deleted first, because foreign columns or references hang on them, each after those it refers to.
    kept: Vec<String>,
    /// Are the rows of these tables gone that are not in the archive?
    is_settled: bool,
    /// The table whose rows are taken, and those that are not written yet.
    table: Option<(Table, Vec<Row>)>,
}

impl PgTarget {
    /// Names the database.
    pub fn at(url: &str) -> Result<Self, ArchiveError> {
        Ok(Self { url: url.to_owned(), open: None })
    }

    fn open(&mut self) -> Result<&mut Open, ArchiveError> {
        self.open.as_mut().ok_or_else(|| ArchiveError::Unsound("the work has not begun".to_owned()))
    }
}

impl Open {
    fn flush(&mut self) -> Result<(), ArchiveError> {
        let Some((table, rows)) = &mut self.table else { return Ok(()) };
        let is_kept = self.kept.contains(&table.name);
        rows::write(&mut self.connection, &self.types, table, is_kept, rows)?;
        rows.clear();
        Ok(())
    }

    /// Removes the rows that are not in the archive from tables that kept theirs: those that this transaction did not write.
    fn settle(&mut self) -> Result<(), ArchiveError> {
        if std::mem::replace(&mut self.is_settled, true) {
            return Ok(());
        }
        let kept = &self.kept;
        if kept.is_empty() {
            return Ok(());
        }
        without_own_triggers(&mut self.connection, |connection| {
            for table in kept.iter().rev() {
                let delete = format!("DELETE FROM {} WHERE xmin <> pg_current_xact_id()::xid", quoted(table));
                connection.batch_execute(&delete).map_err(ArchiveError::failed(
                    "rows that are not in the archive could not be removed, because another program's rows hang on them",
                ))?;
            }
            Ok(())
        })
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
        newest_known::<PgConnection>()
    }

    fn layout(&self, schema: &str) -> Layout {
        catalog::layout(&made::<PgConnection>(|version| version <= schema))
    }

    fn holdings(&mut self) -> Result<Holdings, ArchiveError> {
        if look(&self.url).map_err(ArchiveError::failed("database could not be opened"))? == Found::Nothing {
            return Ok(Holdings::default());
        }
        let mut connection = open(&self.url)?;
        let clock: ClockRow = diesel::sql_query("SELECT clock_timestamp() AS now")
            .get_result(&mut connection)
            .map_err(ArchiveError::failed("database could not be read"))?;
        Ok(Holdings {
            rows: has_rows(&mut connection)?,
            server_seen_at: server_seen_at(&mut connection)?,
            clock: Some(clock.now),
            foreign: foreign(&mut connection)?,
        })
    }

    fn begin(&mut self, begin: &BeginFilling) -> Result<(), ArchiveError> {
        let is_fresh =
            look(&self.url).map_err(ArchiveError::failed("database could not be opened"))? == Found::Nothing;
        if !is_fresh && !has_mark_table(&mut open(&self.url)?)? {
            // A release older than the mark.
            let url = ConnectionUrl::parse(&self.url)
                .map_err(ArchiveError::failed("database could not be opened"))?;
            migrate::run_to_fill(&url).map_err(ArchiveError::failed("database could not be set up"))?;
        }
        let mut connection = open(&self.url)?;
        AnsiTransactionManager::begin_transaction_sql(
            &mut connection,
            "BEGIN ISOLATION LEVEL READ COMMITTED",
        )
        .map_err(ArchiveError::failed("transaction could not begin"))?;
        connection.batch_execute(PATIENT).map_err(ArchiveError::failed("transaction could not begin"))?;
        lock(&mut connection)?;
        if is_fresh {
            // Servers that start wait for what migrates.
            migrate::lock(&mut connection).map_err(ArchiveError::failed("database could not be locked"))?;
        } else {
            let mut marking = open(&self.url)?;
            diesel::sql_query(
                "INSERT INTO unfinished (work, begun_at) VALUES ($1, $2) \
                 ON CONFLICT (work) DO UPDATE SET begun_at = excluded.begun_at",
            )
            .bind::<Text, _>(begin.filling.name())
            .bind::<Timestamptz, _>(begin.now)
            .execute(&mut marking)
            .map_err(ArchiveError::failed("database could not be marked"))?;
        }
        let open = self.open.insert(Open {
            connection,
            types: Types::new(),
            foreign: Vec::new(),
            silenced: Vec::new(),
            kept: Vec::new(),
            is_settled: false,
            table: None,
        });
        prepare(open, begin)
    }

    fn stored(&mut self, table: &Table, take: &mut TakeRow<'_>) -> Result<(), ArchiveError> {
        let open = self.open()?;
        open.settle()?;
        rows::read(&mut open.connection, table, take)
    }

    fn finish(&mut self, finish: &FinishFilling<'_>) -> Result<Vec<String>, ArchiveError> {
        let open = self.open()?;
        open.settle()?;
        let connection = &mut open.connection;
        let migrated =
            forward(connection).map_err(ArchiveError::failed("schema could not be brought up to date"))?;
        for trigger in &open.silenced {
            let when = match trigger.enabled.as_str() {
                "R" => "ENABLE REPLICA",
                "A" => "ENABLE ALWAYS",
                _ => "ENABLE",
            };
            switch(connection, trigger, when)?;
        }
        let foreign = foreign(connection)?;
        if let Some(lost) = open.foreign.iter().find(|part| !foreign.contains(part)) {
            return Err(lost_on_the_way(lost));
        }
        let mut commit = || -> Result<(), OpError> {
            if let Some(command) = finish.epoch {
                raise_epoch(connection, command)?;
            }
            connection.batch_execute("DELETE FROM unfinished; DELETE FROM fillings")?;
            diesel::sql_query("INSERT INTO fillings (id, filled_at) VALUES ($1, $2)")
                .bind::<SqlUuid, _>(finish.id.as_uuid())
                .bind::<Timestamptz, _>(finish.now)
                .execute(connection)?;
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
        if !has_mark_table(&mut connection)? {
            return Ok(());
        }
        connection
            .batch_execute("DELETE FROM unfinished")
            .map_err(ArchiveError::failed("mark could not be taken away"))
    }

    fn remove_mark(&mut self) -> Result<MarkRemoved, ArchiveError> {
        match look(&self.url).map_err(ArchiveError::failed("database could not be opened"))? {
            Found::Nothing | Found::Ours => return Ok(MarkRemoved::NoMark),
            Found::Unfinished => {}
        }
        let mut connection = open(&self.url)?;
        let removed = connection.transaction(|connection| -> Result<(), Removing> {
            lock(connection).map_err(Removing::Refused)?;
            Ok(connection.batch_execute("DELETE FROM unfinished")?)
        });
        removed.map_err(|error| match error {
            Removing::Refused(error) => error,
            Removing::Failed(error) => ArchiveError::failed("mark could not be taken away")(error),
        })?;
        Ok(if has_rows(&mut connection)? { MarkRemoved::DataUsable } else { MarkRemoved::NothingThere })
    }
}

/// Why a mark was not removed.
enum Removing {
    Refused(ArchiveError),
    Failed(diesel::result::Error),
}

impl From<diesel::result::Error> for Removing {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error)
    }
}

/// Takes the lock until the end of the transaction. Only one process fills a database.
fn lock(connection: &mut PgConnection) -> Result<(), ArchiveError> {
    let lock: TruthRow = diesel::sql_query(LOCK)
        .get_result(connection)
        .map_err(ArchiveError::failed("database could not be locked"))?;
    if lock.is_so {
        Ok(())
    } else {
        Err(ArchiveError::Refused("another process is filling this database".to_owned()))
    }
}

fn has_mark_table(connection: &mut PgConnection) -> Result<bool, ArchiveError> {
    has_table(connection, "unfinished").map_err(ArchiveError::failed("tables could not be listed"))
}

fn server_seen_at(connection: &mut PgConnection) -> Result<Option<OffsetDateTime>, ArchiveError> {
    if !has_table(connection, "replicas").map_err(ArchiveError::failed("tables could not be listed"))? {
        return Ok(None);
    }
    let seen: SeenRow = diesel::sql_query("SELECT max(seen_at) AS seen_at FROM replicas")
        .get_result(connection)
        .map_err(ArchiveError::failed("database could not be read"))?;
    Ok(seen.seen_at)
}

fn foreign(connection: &mut PgConnection) -> Result<Vec<ForeignPart>, ArchiveError> {
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

/// Deletes rows while our triggers are off. `grants_forgotten` would write to users that are kept, and a row that this transaction wrote
/// counts as one of the archive.
fn without_own_triggers(
    connection: &mut PgConnection,
    delete: impl FnOnce(&mut PgConnection) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    let own = made_here(connection).and_then(|made| catalog::own_triggers(connection, &made));
    let mut own = own.map_err(ArchiveError::failed("tables could not be listed"))?;
    own.retain(|trigger| trigger.is_owner && trigger.enabled == "O");
    for trigger in &own {
        switch(connection, trigger, "DISABLE")?;
    }
    delete(connection)?;
    own.iter().try_for_each(|trigger| switch(connection, trigger, "ENABLE"))
}

/// Switches a trigger on or off.
fn switch(connection: &mut PgConnection, trigger: &TriggerRow, how: &str) -> Result<(), ArchiveError> {
    let alter = format!("ALTER TABLE {} {how} TRIGGER {}", quoted(&trigger.of), quoted(&trigger.name));
    connection.batch_execute(&alter).map_err(ArchiveError::failed("a trigger could not be switched"))
}

fn open(url: &str) -> Result<PgConnection, ArchiveError> {
    let opened = ConnectionUrl::parse(url).and_then(|url| url.open());
    opened.map_err(ArchiveError::failed("database could not be opened"))
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
    for trigger in catalog::triggers(connection, &made).map_err(not_listed())? {
        if trigger.is_owner && trigger.enabled != "D" {
            switch(connection, &trigger, "DISABLE")?;
            open.silenced.push(trigger);
        }
    }
    open.kept = kept(connection, &open.foreign)?;
    let emptied: Vec<_> =
        every_table(connection)?.into_iter().rev().filter(|table| !open.kept.contains(table)).collect();
    without_own_triggers(connection, |connection| {
        for table in emptied {
            let delete = format!("DELETE FROM {}", quoted(&table));
            connection.batch_execute(&delete).map_err(ArchiveError::failed("tables could not be emptied"))?;
        }
        Ok(())
    })?;
    to(connection, &begin.schema)
        .map_err(ArchiveError::failed("schema of the archive could not be set up"))?;
    let here = catalog::tables(connection)?;
    same_tables(&here, &begin.tables)?;
    open.kept.retain(|name| here.iter().any(|table| table.name == *name));
    open.types = catalog::types(connection)?;
    Ok(())
}

/// The tables on which foreign columns or references hang, and those that they refer to. If their rows were deleted, values of other programs
/// would be lost, or the database would refuse.
fn kept(connection: &mut PgConnection, foreign: &[ForeignPart]) -> Result<Vec<String>, ArchiveError> {
    let mut kept: BTreeSet<String> = BTreeSet::new();
    for part in foreign {
        match part {
            ForeignPart::Column { table, .. } | ForeignPart::Reference { table, .. } => {
                kept.insert(table.clone());
            }
            ForeignPart::Table { .. }
            | ForeignPart::View { .. }
            | ForeignPart::Trigger { .. }
            | ForeignPart::Extension { .. } => {}
        }
    }
    if kept.is_empty() {
        return Ok(Vec::new());
    }
    let references = catalog::own_references(connection)?;
    let tables = catalog::tables(connection)?;
    loop {
        let more: Vec<String> = references
            .iter()
            .filter(|(from, to)| kept.contains(from) && !kept.contains(to))
            .map(|(_, to)| to.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        kept.extend(more);
    }
    Ok(tables.into_iter().map(|table| table.name).filter(|name| kept.contains(name)).collect())
}

fn counted(connection: &mut PgConnection, table: Table) -> Result<CountedTable, ArchiveError> {
    let count = format!("SELECT count(*) AS number FROM {}", quoted(&table.name));
    let count: NumberRow = diesel::sql_query(count)
        .get_result(connection)
        .map_err(ArchiveError::failed("rows could not be counted"))?;
    Ok(CountedTable { table, rows: u64::try_from(count.number).unwrap_or_default() })
}

/// Is there a row that a server does not write by its own start?
fn has_rows(connection: &mut PgConnection) -> Result<bool, ArchiveError> {
    for table in catalog::tables(connection)? {
        let except = match OwnStart::of(&table.name) {
            OwnStart::Every => continue,
            OwnStart::None => String::new(),
            OwnStart::Kinds(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{}'", kind.name())).collect();
                format!(" WHERE kind NOT IN ({})", kinds.join(", "))
            }
        };
        let exists = format!("SELECT EXISTS (SELECT FROM {}{except}) AS is_so", quoted(&table.name));
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
    let made = made_here(connection).map_err(ArchiveError::failed("tables could not be listed"))?;
    let beside = ["leases", "replicas"].into_iter().filter(|table| made.tables.contains_key(*table));
    Ok(beside.map(str::to_owned).chain(archived).collect())
}

impl fmt::Debug for PgArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgArchive").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl fmt::Debug for PgTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgTarget").finish_non_exhaustive()
    }
}

#[derive(QueryableByName)]
struct SeenRow {
    #[diesel(sql_type = Nullable<Timestamptz>)]
    seen_at: Option<OffsetDateTime>,
}

#[derive(QueryableByName)]
struct ClockRow {
    #[diesel(sql_type = Timestamptz)]
    now: OffsetDateTime,
}

#[derive(QueryableByName)]
struct TruthRow {
    #[diesel(sql_type = Bool)]
    is_so: bool,
}
