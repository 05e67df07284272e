//! Migrations, embedded in the binary.
//!
//! Each migration is a transaction of its own, which holds an advisory lock of the database from its first statement to
//! its end: of several replicas that start at once one runs it, and the others wait and find it done (D-16). One that
//! dies in the middle leaves nothing behind. The lock is one of transactions, not of sessions: a pooler that lends a
//! session to somebody else would lend the lock with it.

use countersign_ports::error::Source;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::{Connection, PgConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::connection::{ConnectError, ConnectionUrl};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Takes the lock until the transaction ends, or fails after a minute. What is read afterwards must be what the one
/// before us left. The number spells `counters` in ASCII.
const LOCK: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '60s'; \
    SELECT pg_advisory_xact_lock(x'636f756e74657273'::bigint)";

/// The schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// There is no connection.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Another process has held the migration lock for too long, or the connection broke.
    #[error("migration lock cannot be taken")]
    Lock(#[source] diesel::result::Error),
    /// The threads that work on the database could not be started.
    #[error("threads could not be started")]
    Threads(#[source] std::io::Error),
    /// A migration failed; nothing of it remains.
    #[error("migration failed: {0}")]
    Failed(#[source] Source),
    /// The transaction around a step could not begin or end.
    #[error("connection broke during a migration")]
    Broken(#[from] diesel::result::Error),
}

/// Runs the migrations that are missing, and gives their names. Blocks.
pub fn migrate(url: &str) -> Result<Vec<String>, MigrateError> {
    run_pending(&ConnectionUrl::parse(url)?)
}

/// Reverts all migrations, and with them everything that was stored. Gives the versions, latest first. Blocks.
pub fn revert_all(url: &str) -> Result<Vec<String>, MigrateError> {
    let mut connection = ConnectionUrl::parse(url)?.open()?;
    one_by_one(&mut connection, |connection| {
        if connection.applied_migrations()?.is_empty() {
            return Ok(None);
        }
        Ok(Some(connection.revert_last_migration(MIGRATIONS)?.to_string()))
    })
}

pub(crate) fn run_pending(url: &ConnectionUrl) -> Result<Vec<String>, MigrateError> {
    let mut connection = url.open()?;
    one_by_one(&mut connection, |connection| {
        let Some(next) = connection.pending_migrations(MIGRATIONS)?.into_iter().next() else {
            tell_of_newer(connection)?;
            return Ok(None);
        };
        connection.run_migration(&next)?;
        Ok(Some(next.name().to_string()))
    })
}

/// Takes steps, each under the lock, until there is none left. Gives their names.
fn one_by_one(
    connection: &mut PgConnection,
    step: impl Fn(&mut PgConnection) -> Result<Option<String>, Source>,
) -> Result<Vec<String>, MigrateError> {
    let mut names = Vec::new();
    loop {
        let taken = connection.transaction(|connection| {
            connection.batch_execute(LOCK).map_err(MigrateError::Lock)?;
            step(connection).map_err(MigrateError::Failed)
        })?;
        match taken {
            Some(name) => names.push(name),
            None => return Ok(names),
        }
    }
}

/// A newer release was here. Migrations only add (`migrations/README.md`), so this one goes on: that is what lets replicas
/// of two releases run side by side (D-30). The operator is told.
fn tell_of_newer(connection: &mut PgConnection) -> Result<(), Source> {
    let known: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations()?;
    for version in connection.applied_migrations()? {
        if !known.iter().any(|migration| migration.name().version() == version) {
            tracing::warn!(migration = %version, "schema is newer than this program");
        }
    }
    Ok(())
}
