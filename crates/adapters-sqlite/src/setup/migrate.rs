//! Brings the schema up to date, and reverts it.
//!
//! Everything happens in one exclusive transaction, under a lock that only one process can hold. A start that
//! is killed halfway leaves the schema as it was. Of several processes that start at once, one migrates, and
//! the others find it done.

use std::path::Path;
use std::time::Duration;

use countersign_sql::setup::migrate::{forward, made_here, revert_next, unfinished, warn_of_newer};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::error::MigrateError;
use crate::file::DatabaseFile;
use crate::pool;

/// How long a migration waits for a server that writes to the same file.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the migrations that the database does not have yet and returns their names. Creates the database if
/// there is none.
pub fn migrate(path: &Path) -> Result<Vec<String>, MigrateError> {
    run(&DatabaseFile::at(path)?)
}

/// Runs the migrations that are missing, whether the database is finished or not.
pub(crate) fn run_to_fill(file: &DatabaseFile) -> Result<Vec<String>, MigrateError> {
    change(file, |connection| Ok(forward(connection)?))
}

/// Reverts all migrations, the newest first, and returns their names. Everything that was stored is deleted.
pub fn revert_all(path: &Path) -> Result<Vec<String>, MigrateError> {
    change(&DatabaseFile::at(path)?, |connection| {
        let mut reverted = Vec::new();
        while let Some(name) = revert_next(connection, "")? {
            reverted.push(name);
        }
        Ok(reverted)
    })
}

/// Runs the migrations that are missing. Refuses a database that a restore or a copy did not finish filling.
pub(crate) fn run(file: &DatabaseFile) -> Result<Vec<String>, MigrateError> {
    change(file, |connection| match unfinished(connection)? {
        None => Ok(forward(connection)?),
        Some(unfinished) => Err(unfinished.into()),
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
        warn_of_newer(connection)?;
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

#[derive(QueryableByName)]
struct Dangling {
    #[expect(dead_code, reason = "only counted; diesel wants a column")]
    #[diesel(sql_type = Text)]
    table: String,
}

#[cfg(test)]
mod tests {
    use countersign_sql::setup::catalog::{absent, foreign};
    use countersign_sql::setup::migrate::{Migrated, run_next};

    use super::*;

    #[test]
    fn s_14_what_migrations_say_is_what_the_catalog_has_after_each_of_them_up_and_down() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        for script in SqliteConnection::SCRIPTS.iter().chain(SqliteConnection::SCRIPTS.iter().rev()) {
            while revert_next(&mut connection, script.version).unwrap().is_some() {}
            while run_next(&mut connection, script.version).unwrap().is_some() {}
            let made = made_here(&mut connection).unwrap();
            assert!(made.tables.contains_key("clients"), "{}", script.name);
            assert_eq!(absent(&mut connection, &made).unwrap(), Vec::<String>::new(), "{}", script.name);
            assert_eq!(foreign(&mut connection, &made).unwrap(), [], "{}", script.name);
        }
    }
}
