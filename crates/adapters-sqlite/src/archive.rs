//! What is special about SQLite when a whole database is read or filled.

mod rows;

use std::path::Path;

use countersign_domain::archive::{ForeignPart, Row, Table};
use countersign_ports::{ArchiveError, BeginFilling, TakeRow};
use countersign_sql::archive::{Archive, Place, Target, mark, remove_mark};
use countersign_sql::columns::Text;
use countersign_sql::setup::catalog::{self, is_foreign_trigger, quoted};
use countersign_sql::setup::migrate::has_table;
use countersign_statement::made::Made;
use diesel::connection::{AnsiTransactionManager, SimpleConnection};
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::file::{DatabaseFile, SetupLock};
use crate::pool;
use crate::setup::look::{Found, look};
use crate::setup::migrate;
use crate::statement::statement;

/// One state of a database, for as long as this value lives.
pub type SqliteArchive = Archive<SqlitePlace>;

/// A database to be filled.
pub type SqliteTarget = Target<SqlitePlace>;

/// The file of a database.
#[derive(Debug)]
pub struct SqlitePlace(DatabaseFile);

/// Statements that put back what belongs to other programs and is gone meanwhile: values of their columns, and their triggers.
#[derive(Debug, Default)]
pub struct Aside(Vec<String>);

/// Servers, commands and other restores that want to set the database up wait.
#[derive(Debug)]
pub struct Held(SetupLock);

impl SqlitePlace {
    fn look(&self) -> Result<Found, ArchiveError> {
        look(&self.0.path()).map_err(ArchiveError::failed("database could not be opened"))
    }
}

impl Place for SqlitePlace {
    type Name = Path;
    type Db = SqliteConnection;
    type Held = Held;
    type Aside = Aside;

    const BY_BYTES: &'static str = "";

    fn at(name: &Path) -> Result<Self, ArchiveError> {
        DatabaseFile::at(name).map(Self).map_err(ArchiveError::failed("database could not be named"))
    }

    fn has_tables(&self) -> Result<bool, ArchiveError> {
        match self.look()? {
            Found::Nothing | Found::Empty => Ok(false),
            Found::Ours | Found::Unfinished => Ok(true),
            Found::Foreign => Err(ArchiveError::Refused(format!(
                "{} is not a database of Countersign",
                self.0.path().display()
            ))),
        }
    }

    fn is_unfinished(&self) -> Result<bool, ArchiveError> {
        Ok(self.look()? == Found::Unfinished)
    }

    fn connect(&self) -> Result<SqliteConnection, ArchiveError> {
        pool::connect_existing(&self.0, migrate::PATIENCE)
            .map_err(ArchiveError::failed("database could not be opened"))
    }

    fn open_state(&self) -> Result<SqliteConnection, ArchiveError> {
        let mut connection = self.connect()?;
        connection
            .batch_execute("PRAGMA query_only = ON; PRAGMA cache_size = -8000; BEGIN")
            .map_err(ArchiveError::failed("database could not be read"))?;
        Ok(connection)
    }

    fn migrate(&self) -> Result<(), ArchiveError> {
        migrate::run_to_fill(&self.0).map(drop).map_err(ArchiveError::failed("database could not be set up"))
    }

    fn lock(&self, _is_fresh: bool) -> Result<(SqliteConnection, Held), ArchiveError> {
        let lock = self.0.prepare().map_err(ArchiveError::failed("database could not be locked"))?;
        match self.connect() {
            Ok(connection) => Ok((connection, Held(lock))),
            Err(error) => {
                lock.remove_what_was_made(&self.0.path());
                Err(error)
            }
        }
    }

    fn mark(
        &self,
        connection: &mut SqliteConnection,
        begin: &BeginFilling,
        _is_fresh: bool,
    ) -> Result<(), ArchiveError> {
        let mut marked = || -> Result<(), SqliteError> {
            connection.batch_execute(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -64000;",
            )?;
            // Without tables, nothing is there if the process dies.
            if has_table(connection, "unfinished")? {
                mark(connection, begin)?;
            }
            AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")?;
            Ok(())
        };
        marked().map_err(ArchiveError::failed("database could not be marked"))
    }

    fn empty(
        connection: &mut SqliteConnection,
        made: &Made,
        _foreign: &[ForeignPart],
        tables: Vec<String>,
    ) -> Result<Aside, ArchiveError> {
        let not_listed = || ArchiveError::failed("tables could not be listed");
        let aside = || ArchiveError::failed("what belongs to another program could not be put aside");
        let (mut back, mut triggers_back) = (Vec::new(), Vec::new());
        let triggers: Vec<(String, String, String)> =
            EveryTrigger {}.load(connection).map_err(not_listed())?;
        for (name, of, statement) in triggers {
            if is_foreign_trigger(made, &of, &name) {
                connection.batch_execute(&format!("DROP TRIGGER {}", quoted(&name))).map_err(aside())?;
                triggers_back.push(statement);
            }
        }
        let mut foreign = catalog::foreign_columns(connection, made).map_err(not_listed())?;
        foreign.retain(|column| !column.is_generated);
        for columns in foreign.chunk_by(|one, next| one.of == next.of) {
            let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
            let (keep, bring_back) = statements_to_keep(connection, &columns[0].of, &names)?;
            connection.batch_execute(&keep).map_err(aside())?;
            back.push(bring_back);
        }
        for table in tables.iter().rev() {
            let delete = format!("DELETE FROM {}", quoted(table));
            connection.batch_execute(&delete).map_err(ArchiveError::failed("tables could not be emptied"))?;
        }
        back.append(&mut triggers_back);
        Ok(Aside(back))
    }

    fn at_once(table: &Table) -> usize {
        rows::at_once(table)
    }

    fn write(
        connection: &mut SqliteConnection,
        _aside: &Aside,
        table: &Table,
        rows: &[Row],
    ) -> Result<(), ArchiveError> {
        rows::write(connection, table, rows)
    }

    fn read(
        connection: &mut SqliteConnection,
        text: &str,
        take: &mut TakeRow<'_>,
    ) -> Result<(), ArchiveError> {
        rows::read(connection, text, take)
    }

    fn check(connection: &mut SqliteConnection) -> Result<(), ArchiveError> {
        let dangling =
            migrate::dangling(connection).map_err(ArchiveError::failed("references could not be checked"))?;
        match dangling {
            None => Ok(()),
            Some((table, _)) => Err(ArchiveError::Unsound(format!(
                "rows of {table} refer to rows that are not in the archive"
            ))),
        }
    }

    fn put_back(connection: &mut SqliteConnection, aside: &Aside) -> Result<(), ArchiveError> {
        aside.0.iter().try_for_each(|statement| {
            connection
                .batch_execute(statement)
                .map_err(ArchiveError::failed("what belongs to another program could not be put back"))
        })
    }

    /// The log is as large as the database now. It is safe where it is, so a failure means nothing.
    fn tidy_up(connection: &mut SqliteConnection) {
        if let Err(error) = connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)") {
            tracing::debug!(error = &error as &dyn std::error::Error, "the log could not be copied yet");
        }
    }

    fn let_go(&self, held: Held) {
        held.0.remove_what_was_made(&self.0.path());
    }

    fn unmark(&self) -> Result<SqliteConnection, ArchiveError> {
        let lock = self.0.try_prepare().map_err(ArchiveError::failed("database could not be locked"))?;
        let Some(_lock) = lock else {
            return Err(ArchiveError::Refused("another process is filling this database".to_owned()));
        };
        let mut connection = self.connect()?;
        remove_mark(&mut connection).map_err(ArchiveError::failed("mark could not be taken away"))?;
        Ok(connection)
    }
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

statement! {
    /// The name, the table and the text of each trigger.
    EveryTrigger {} -> (Text, Text, Text) = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger'"
}
