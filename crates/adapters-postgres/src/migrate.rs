//! Migrations, embedded in the binary.
//!
//! Whoever migrates holds an advisory lock of the database, so that of several replicas that start at once one works and
//! the others find it done (D-16). Each migration is a transaction of its own: one that dies in the middle leaves
//! nothing behind, and its lock goes with its connection.

use std::error::Error;

use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::{PgConnection, QueryResult};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::connection::{ConnectError, ConnectionUrl};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Takes the lock, or fails after a minute. The number spells `counters` in ASCII.
const LOCK: &str = "SET lock_timeout = '60s'; SELECT pg_advisory_lock(x'636f756e74657273'::bigint)";

/// The schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// There is no connection.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Another process has held the migration lock for too long, or the connection broke.
    #[error("migration lock cannot be taken")]
    Lock(#[source] diesel::result::Error),
    /// A migration failed; nothing of it remains.
    #[error("migration failed: {0}")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

/// Runs the migrations that are missing, and gives their names. Blocks.
pub fn migrate(url: &str) -> Result<Vec<String>, MigrateError> {
    run_pending(&ConnectionUrl::parse(url)?)
}

/// Reverts all migrations, and with them everything that was stored. Gives the versions, latest first. Blocks.
pub fn revert_all(url: &str) -> Result<Vec<String>, MigrateError> {
    let mut connection = locked(&ConnectionUrl::parse(url)?)?;
    let reverted = connection.revert_all_migrations(MIGRATIONS).map_err(MigrateError::Failed)?;
    Ok(reverted.iter().map(ToString::to_string).collect())
}

pub(crate) fn run_pending(url: &ConnectionUrl) -> Result<Vec<String>, MigrateError> {
    let mut connection = locked(url)?;
    tell_of_newer(&mut connection).map_err(MigrateError::Failed)?;
    let pending = connection.pending_migrations(MIGRATIONS).map_err(MigrateError::Failed)?;
    let mut names = Vec::with_capacity(pending.len());
    for migration in &pending {
        connection.run_migration(migration).map_err(MigrateError::Failed)?;
        names.push(migration.name().to_string());
    }
    Ok(names)
}

/// A connection with the lock, which ends with it.
fn locked(url: &ConnectionUrl) -> Result<PgConnection, MigrateError> {
    let mut connection = url.open()?;
    let lock: QueryResult<()> = connection.batch_execute(LOCK);
    lock.map_err(MigrateError::Lock)?;
    Ok(connection)
}

/// A newer release was here. Migrations only add (`migrations/README.md`), so this one goes on: that is what lets replicas
/// of two releases run side by side (D-30). The operator is told.
fn tell_of_newer(connection: &mut PgConnection) -> Result<(), Box<dyn Error + Send + Sync>> {
    let known: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations()?;
    for version in connection.applied_migrations()? {
        if !known.iter().any(|migration| migration.name().version() == version) {
            tracing::warn!(migration = %version, "schema is newer than this program");
        }
    }
    Ok(())
}
