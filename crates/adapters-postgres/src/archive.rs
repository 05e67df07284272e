//! What is special about PostgreSQL when a whole database is read or filled.

mod rows;

use std::collections::BTreeSet;

use countersign_domain::archive::{ForeignPart, Row, Table};
use countersign_ports::{ArchiveError, BeginFilling, TakeRow};
use countersign_sql::archive::{Archive, Place, Target, mark, remove_mark};
use countersign_sql::columns::{Bool, Text};
use countersign_sql::setup::catalog::{self, Types, is_foreign_trigger, quoted};
use countersign_sql::setup::migrate::made_here;
use countersign_statement::made::Made;
use diesel::connection::{AnsiTransactionManager, SimpleConnection};
use diesel::prelude::*;

use crate::connect::connection::ConnectionUrl;
use crate::setup::look::{Found, look};
use crate::setup::migrate;
use crate::statement::statement;

/// One state of a database, for as long as this value lives.
pub type PgArchive = Archive<PgPlace>;

/// A database to be filled.
pub type PgTarget = Target<PgPlace>;

/// The URL of a database.
#[derive(Debug)]
pub struct PgPlace(String);

/// What is special about a database while it is filled.
#[derive(Debug, Default)]
pub struct Aside {
    types: Types,
    /// The foreign triggers that are switched off meanwhile.
    silenced: Vec<TriggerRow>,
    /// Tables whose rows are not deleted first, because foreign columns or references hang on them, each after those it refers to.
    kept: Vec<String>,
    /// Are the rows of these tables gone that are not in the archive?
    is_settled: bool,
}

/// Nothing that a role or a database sets may cut a long work off.
const PATIENT: &str = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; \
    SET LOCAL lock_timeout = '30s'; SET LOCAL synchronous_commit = on";

impl PgPlace {
    fn look(&self) -> Result<Found, ArchiveError> {
        look(&self.0).map_err(ArchiveError::failed("database could not be opened"))
    }
}

impl Place for PgPlace {
    type Name = str;
    type Db = PgConnection;
    type Held = ();
    type Aside = Aside;

    const BY_BYTES: &'static str = " COLLATE \"C\"";

    fn at(name: &str) -> Result<Self, ArchiveError> {
        Ok(Self(name.to_owned()))
    }

    fn has_tables(&self) -> Result<bool, ArchiveError> {
        Ok(self.look()? != Found::Nothing)
    }

    fn is_unfinished(&self) -> Result<bool, ArchiveError> {
        Ok(self.look()? == Found::Unfinished)
    }

    fn connect(&self) -> Result<PgConnection, ArchiveError> {
        let opened = ConnectionUrl::parse(&self.0).and_then(|url| url.open());
        opened.map_err(ArchiveError::failed("database could not be opened"))
    }

    fn open_state(&self) -> Result<PgConnection, ArchiveError> {
        let mut connection = self.connect()?;
        begin(&mut connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .map_err(ArchiveError::failed("database could not be read"))?;
        Ok(connection)
    }

    fn migrate(&self) -> Result<(), ArchiveError> {
        let url =
            ConnectionUrl::parse(&self.0).map_err(ArchiveError::failed("database could not be opened"))?;
        migrate::run_to_fill(&url).map(drop).map_err(ArchiveError::failed("database could not be set up"))
    }

    /// The transaction holds the lock.
    fn lock(&self, is_fresh: bool) -> Result<(PgConnection, ()), ArchiveError> {
        let mut connection = self.connect()?;
        begin(&mut connection, "BEGIN ISOLATION LEVEL READ COMMITTED")
            .map_err(ArchiveError::failed("transaction could not begin"))?;
        lock(&mut connection)?;
        if is_fresh {
            // Servers that start wait for what migrates.
            migrate::lock(&mut connection).map_err(ArchiveError::failed("database could not be locked"))?;
        }
        Ok((connection, ()))
    }

    fn mark(&self, _: &mut PgConnection, begin: &BeginFilling, is_fresh: bool) -> Result<(), ArchiveError> {
        if is_fresh {
            return Ok(());
        }
        mark(&mut self.connect()?, begin).map_err(ArchiveError::failed("database could not be marked"))
    }

    fn empty(
        connection: &mut PgConnection,
        made: &Made,
        foreign: &[ForeignPart],
        tables: Vec<String>,
    ) -> Result<Aside, ArchiveError> {
        let triggers: Vec<TriggerRow> =
            EveryTrigger {}.load(connection).map_err(ArchiveError::failed("tables could not be listed"))?;
        let mut silenced = Vec::new();
        for trigger in triggers {
            let is_foreign = is_foreign_trigger(made, &trigger.of, &trigger.name);
            if is_foreign && trigger.is_owner && trigger.enabled != "D" {
                switch(connection, &trigger, "DISABLE")?;
                silenced.push(trigger);
            }
        }
        let kept = kept(connection, foreign)?;
        let emptied: Vec<&String> = tables.iter().rev().filter(|table| !kept.contains(table)).collect();
        without_own_triggers(connection, |connection| {
            for table in emptied {
                let delete = format!("DELETE FROM {}", quoted(table));
                connection
                    .batch_execute(&delete)
                    .map_err(ArchiveError::failed("tables could not be emptied"))?;
            }
            Ok(())
        })?;
        Ok(Aside { types: Types::new(), silenced, kept, is_settled: false })
    }

    fn prepare(connection: &mut PgConnection, aside: &mut Aside, here: &[Table]) -> Result<(), ArchiveError> {
        aside.kept.retain(|name| here.iter().any(|table| table.name == *name));
        aside.types = catalog::types(connection)?;
        Ok(())
    }

    fn at_once(_: &Table) -> usize {
        rows::ROWS
    }

    fn write(
        connection: &mut PgConnection,
        aside: &Aside,
        table: &Table,
        rows: &[Row],
    ) -> Result<(), ArchiveError> {
        rows::write(connection, &aside.types, table, aside.kept.contains(&table.name), rows)
    }

    fn read(connection: &mut PgConnection, text: &str, take: &mut TakeRow<'_>) -> Result<(), ArchiveError> {
        rows::read(connection, text, take)
    }

    /// Removes the rows that are not in the archive from tables that kept theirs: those that this transaction did not write.
    fn settle(connection: &mut PgConnection, aside: &mut Aside) -> Result<(), ArchiveError> {
        if std::mem::replace(&mut aside.is_settled, true) || aside.kept.is_empty() {
            return Ok(());
        }
        without_own_triggers(connection, |connection| {
            for table in aside.kept.iter().rev() {
                let delete = format!("DELETE FROM {} WHERE xmin <> pg_current_xact_id()::xid", quoted(table));
                connection.batch_execute(&delete).map_err(ArchiveError::failed(
                    "rows that are not in the archive could not be removed, because another program's rows hang on them",
                ))?;
            }
            Ok(())
        })
    }

    fn put_back(connection: &mut PgConnection, aside: &Aside) -> Result<(), ArchiveError> {
        aside.silenced.iter().try_for_each(|trigger| {
            let when = match trigger.enabled.as_str() {
                "R" => "ENABLE REPLICA",
                "A" => "ENABLE ALWAYS",
                _ => "ENABLE",
            };
            switch(connection, trigger, when)
        })
    }

    fn unmark(&self) -> Result<PgConnection, ArchiveError> {
        let mut connection = self.connect()?;
        let removed = connection.transaction(|connection| -> Result<(), Removing> {
            lock(connection).map_err(Removing::Refused)?;
            Ok(remove_mark(connection)?)
        });
        match removed {
            Ok(()) => Ok(connection),
            Err(Removing::Refused(error)) => Err(error),
            Err(Removing::Failed(error)) => Err(ArchiveError::failed("mark could not be taken away")(error)),
        }
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

/// Begins a transaction that may last long.
fn begin(connection: &mut PgConnection, how: &str) -> QueryResult<()> {
    AnsiTransactionManager::begin_transaction_sql(connection, how)?;
    connection.batch_execute(PATIENT)
}

/// Takes the lock until the end of the transaction. Only one process fills a database.
fn lock(connection: &mut PgConnection) -> Result<(), ArchiveError> {
    let has: bool =
        TakeLock {}.get_result(connection).map_err(ArchiveError::failed("database could not be locked"))?;
    if has {
        Ok(())
    } else {
        Err(ArchiveError::Refused("another process is filling this database".to_owned()))
    }
}

/// Deletes rows while our triggers are off. `grants_forgotten` would write to users that are kept, and a row that this transaction wrote
/// counts as one of the archive.
fn without_own_triggers(
    connection: &mut PgConnection,
    delete: impl FnOnce(&mut PgConnection) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    let every = made_here(connection).and_then(|made| Ok((made, EveryTrigger {}.load(connection)?)));
    let (made, mut own): (Made, Vec<TriggerRow>) =
        every.map_err(ArchiveError::failed("tables could not be listed"))?;
    own.retain(|trigger| {
        made.triggers.get(&trigger.name) == Some(&trigger.of) && trigger.is_owner && trigger.enabled == "O"
    });
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
    let references =
        catalog::references(connection).map_err(ArchiveError::failed("tables could not be listed"))?;
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
    let tables = catalog::tables(connection)?.into_iter().map(|table| table.name);
    Ok(tables.filter(|name| kept.contains(name)).collect())
}

/// A trigger.
#[derive(Debug, Queryable)]
struct TriggerRow {
    name: String,
    /// Its table.
    of: String,
    /// When it fires, as PostgreSQL writes it: `O`, `D` (never), `R` or `A`.
    enabled: String,
    /// May this role switch it off?
    is_owner: bool,
}

statement! {
    EveryTrigger {} -> (Text, Text, Text, Bool) = "\
        SELECT CAST(t.tgname AS TEXT), CAST(c.relname AS TEXT), CAST(t.tgenabled AS TEXT), pg_has_role(c.relowner, 'USAGE') \
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
        WHERE NOT t.tgisinternal AND c.relnamespace = CAST(current_schema() AS regnamespace) ORDER BY 2, 1"
}

statement! {
    /// Until the end of the transaction that fills the database. The number spells `refilled` in ASCII.
    TakeLock {} -> Bool = "SELECT pg_try_advisory_xact_lock(CAST(x'726566696c6c6564' AS bigint))"
}
