//! Brings the schema up to date, and reverts it.
//!
//! Everything happens in one exclusive transaction, under a lock that only one process can hold. A start that
//! is killed halfway leaves the schema as it was. Of several processes that start at once, one migrates, and
//! the others find it done.

use std::path::Path;
use std::time::Duration;

use countersign_statement::made::Made;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use super::made::made;
use super::words::{has_table, ran, words};
use crate::error::MigrateError;
use crate::file::DatabaseFile;
use crate::pool;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// How long a migration waits for a server that writes to the same file.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the migrations that the database does not have yet and returns their names. Creates the database if
/// there is none.
pub fn migrate(path: &Path) -> Result<Vec<String>, MigrateError> {
    run(&DatabaseFile::at(path)?)
}

/// Runs the migrations that are missing, whether the database is finished or not.
pub(crate) fn run_to_fill(file: &DatabaseFile) -> Result<Vec<String>, MigrateError> {
    change(file, forward)
}

/// Reverts all migrations, the newest first, and returns their names. Everything that was stored is deleted.
pub fn revert_all(path: &Path) -> Result<Vec<String>, MigrateError> {
    change(&DatabaseFile::at(path)?, |connection| {
        let mut reverted = Vec::new();
        for migration in migrations()?.iter().rev() {
            if connection
                .applied_migrations()
                .map_err(MigrateError::Failed)?
                .contains(&migration.name().version())
            {
                connection.revert_migration(migration).map_err(MigrateError::Failed)?;
                reverted.push(migration.name().to_string());
            }
        }
        Ok(reverted)
    })
}

/// Runs the migrations that are missing. Refuses a database that a restore or a copy did not finish filling.
pub(crate) fn run(file: &DatabaseFile) -> Result<Vec<String>, MigrateError> {
    change(file, |connection| match unfinished(connection)? {
        None => forward(connection),
        Some(work) => Err(MigrateError::Unfinished { work }),
    })
}

fn change(
    file: &DatabaseFile,
    work: impl FnOnce(&mut SqliteConnection) -> Result<Vec<String>, MigrateError>,
) -> Result<Vec<String>, MigrateError> {
    let _lock = file.prepare()?;
    let mut connection = pool::connect(file, PATIENCE)
        .map_err(|error| MigrateError::Connect { path: file.path(), source: Box::new(error) })?;
    // Switching to WAL needs the file alone for a moment, and no one else is setting it up now. Foreign keys
    // are checked once at the end, because a table that is rebuilt does not exist for a while.
    connection
        .batch_execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;")?;
    let names = connection.exclusive_transaction(|connection| {
        tell_of_newer(connection)?;
        let names = work(connection)?;
        if names.is_empty() {
            // The check reads every row that refers to another, and no one else can write meanwhile.
            return Ok(names);
        }
        match dangling(connection)? {
            None => Ok(names),
            Some((_, rows)) => Err(MigrateError::DanglingReferences { rows }),
        }
    })?;
    if !names.is_empty() {
        tracing::info!(migrations = names.join(", "), "schema changed");
    }
    Ok(names)
}

/// Warns if a newer release was here. Migrations only add (`migrations/README.md`), so this release can go
/// on.
fn tell_of_newer(connection: &mut SqliteConnection) -> Result<(), MigrateError> {
    let known = migrations()?;
    for version in connection.applied_migrations().map_err(MigrateError::Failed)? {
        if !known.iter().any(|known| known.name().version() == version) {
            tracing::warn!(migration = %version, "schema is newer than this program");
        }
    }
    Ok(())
}

/// The work that did not finish filling this database, if there is one.
pub(crate) fn unfinished(connection: &mut SqliteConnection) -> Result<Option<String>, diesel::result::Error> {
    if !has_table(connection, "unfinished")? {
        return Ok(None);
    }
    Ok(words(connection, "SELECT work AS word FROM unfinished")?.into_iter().next())
}

/// The version of the newest migration of this release.
pub(crate) fn newest_known() -> Result<String, MigrateError> {
    Ok(migrations()?.last().map(|migration| migration.name().version().to_string()).unwrap_or_default())
}

/// The version of the newest migration that this database has.
pub(crate) fn newest(connection: &mut SqliteConnection) -> Result<String, diesel::result::Error> {
    Ok(ran(connection)?.into_iter().max().unwrap_or_default())
}

/// Brings the schema to that of this version, up or down. The caller's transaction holds all of it.
pub(crate) fn to(connection: &mut SqliteConnection, version: &str) -> Result<(), MigrateError> {
    let ran = ran(connection)?;
    let known = migrations()?;
    for migration in known.iter().rev() {
        let its = migration.name().version().to_string();
        if its.as_str() > version && ran.contains(&its) {
            connection.revert_migration(migration).map_err(MigrateError::Failed)?;
        }
    }
    run_missing(connection, &ran, |its| its <= version)?;
    Ok(())
}

/// Runs the migrations that did not run, as far as they are wanted, and returns their names.
fn run_missing(
    connection: &mut SqliteConnection,
    ran: &[String],
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<String>, MigrateError> {
    let mut names = Vec::new();
    for migration in migrations()? {
        let its = migration.name().version().to_string();
        if ran.contains(&its) || !is_wanted(&its) {
            continue;
        }
        if names.is_empty() {
            // Makes the table of migrations.
            connection.applied_migrations().map_err(MigrateError::Failed)?;
        }
        connection.run_migration(&migration).map_err(MigrateError::Failed)?;
        names.push(migration.name().to_string());
    }
    Ok(names)
}

/// The first of our tables with rows that refer to nothing, and how many of them there are. Tables of other programs do not matter.
pub(crate) fn dangling(
    connection: &mut SqliteConnection,
) -> Result<Option<(String, usize)>, diesel::result::Error> {
    for table in made_here(connection)?.tables.into_keys() {
        let rows = diesel::sql_query("SELECT \"table\" FROM pragma_foreign_key_check(?)")
            .bind::<Text, _>(&table)
            .load::<Dangling>(connection)?
            .len();
        if rows > 0 {
            return Ok(Some((table, rows)));
        }
    }
    Ok(None)
}

/// What the migrations made that ran in this database.
pub(crate) fn made_here(connection: &mut SqliteConnection) -> Result<Made, diesel::result::Error> {
    let ran = ran(connection)?;
    Ok(made(|version| ran.iter().any(|ran| ran == version)))
}

/// Runs the migrations that are missing in the caller's transaction, and returns their names.
pub(crate) fn forward(connection: &mut SqliteConnection) -> Result<Vec<String>, MigrateError> {
    let ran = ran(connection)?;
    run_missing(connection, &ran, |_| true)
}

/// All migrations of this release, the oldest first.
pub(crate) fn migrations() -> Result<Vec<Box<dyn Migration<Sqlite>>>, MigrateError> {
    let mut known = MIGRATIONS.migrations().map_err(MigrateError::Failed)?;
    known.sort_by_key(|migration| migration.name().version().as_owned());
    Ok(known)
}

/// Is this the version of a migration of ours?
pub(crate) fn is_ours(version: &str) -> bool {
    migrations().is_ok_and(|known| known.iter().any(|known| known.name().version().to_string() == version))
}

#[derive(QueryableByName)]
struct Dangling {
    #[expect(dead_code, reason = "only counted; diesel wants a column")]
    #[diesel(sql_type = Text)]
    table: String,
}
