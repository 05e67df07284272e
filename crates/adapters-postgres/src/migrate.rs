//! Migrations, which are embedded in the binary.
//!
//! Each migration is a transaction of its own, which holds an advisory lock from its first statement to its
//! end. Of several replicas that start at once, one runs it, and the others wait and find it done (D-16). One
//! that dies halfway leaves nothing behind. The lock belongs to the transaction, not to the session: a pooler
//! that lends the session to somebody else would lend the lock, too.

use countersign_ports::error::Source;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::{Connection, PgConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::connection::{ConnectError, ConnectionUrl};
use crate::look::{has_table, known, ran, words};

pub(crate) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Takes the lock until the transaction ends, or fails after a minute. What is read afterwards must include
/// what the previous holder wrote. The number spells `counters` in ASCII.
const LOCK: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '60s'; \
    SELECT pg_advisory_xact_lock(x'636f756e74657273'::bigint)";

/// The schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// No connection could be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Another process has held the migration lock for too long, or the connection broke.
    #[error("migration lock could not be taken")]
    Lock(#[source] diesel::result::Error),
    /// The threads that work on the database could not be started.
    #[error("threads could not be started")]
    Threads(#[source] std::io::Error),
    /// A migration failed and was rolled back.
    #[error("migration failed: {0}")]
    Failed(#[source] Source),
    /// A restore or a copy did not finish.
    #[error(
        "a {work} did not finish filling this database, so what is in it may not be what should be; run `countersign {work}` \
         again"
    )]
    Unfinished {
        /// Which work: `restore` or `copy`.
        work: String,
    },
    /// The role may not change the schema.
    #[error(
        "the schema is not up to date, and this role may not change it; run `countersign migrate` with the role that owns the tables \
         (docs/scaling.md)"
    )]
    NotPermitted(#[source] Source),
    /// The transaction of a migration could not begin or end.
    #[error("connection failed during a migration")]
    Broken(#[from] diesel::result::Error),
}

impl MigrateError {
    /// Why a step failed. Diesel does not pass on the SQLSTATE, so the words must do.
    fn of(source: Source) -> Self {
        let says = |words| source.to_string().contains(words);
        if says("permission denied") || says("must be owner of") {
            Self::NotPermitted(source)
        } else {
            Self::Failed(source)
        }
    }
}

/// Runs the migrations that are missing and returns their names. Blocks.
pub fn migrate(url: &str) -> Result<Vec<String>, MigrateError> {
    run_pending(&ConnectionUrl::parse(url)?)
}

/// Reverts all migrations, the newest first, and returns their versions. Everything that was stored is
/// deleted. Blocks.
pub fn revert_all(url: &str) -> Result<Vec<String>, MigrateError> {
    let mut connection = ConnectionUrl::parse(url)?.open()?;
    one_by_one(&mut connection, |connection| {
        if connection.applied_migrations()?.is_empty() {
            return Ok(None);
        }
        Ok(Some(connection.revert_last_migration(MIGRATIONS)?.to_string()))
    })
}

/// Runs the migrations that are missing. Refuses a database that a restore or a copy did not finish filling.
pub(crate) fn run_pending(url: &ConnectionUrl) -> Result<Vec<String>, MigrateError> {
    if let Some(work) = unfinished(&mut url.open()?)? {
        return Err(MigrateError::Unfinished { work });
    }
    run_to_fill(url)
}

/// Runs the migrations that are missing, whether the database is finished or not.
pub(crate) fn run_to_fill(url: &ConnectionUrl) -> Result<Vec<String>, MigrateError> {
    let mut connection = url.open()?;
    if is_up_to_date(&mut connection)? {
        return Ok(Vec::new());
    }
    one_by_one(&mut connection, |connection| {
        let Some(next) = connection.pending_migrations(MIGRATIONS)?.into_iter().next() else {
            return Ok(None);
        };
        connection.run_migration(&next)?;
        Ok(Some(next.name().to_string()))
    })
}

/// The work that did not finish filling this database, if there is one.
pub(crate) fn unfinished(connection: &mut PgConnection) -> Result<Option<String>, diesel::result::Error> {
    if !has_table(connection, "unfinished")? {
        return Ok(None);
    }
    Ok(words(connection, "SELECT work AS word FROM unfinished")?.into_iter().next())
}

/// The version of the newest migration of this release.
pub(crate) fn newest_known() -> Result<String, MigrateError> {
    Ok(known()?.into_iter().max().unwrap_or_default())
}

/// The version of the newest migration that this database has.
pub(crate) fn newest(connection: &mut PgConnection) -> Result<String, diesel::result::Error> {
    Ok(ran(connection)?.into_iter().max().unwrap_or_default())
}

/// Brings the schema to that of this version, up or down. The caller's transaction holds all of it.
pub(crate) fn to(connection: &mut PgConnection, version: &str) -> Result<(), MigrateError> {
    let applied = connection.applied_migrations().map_err(MigrateError::Failed)?;
    let known = migrations()?;
    for migration in known.iter().rev() {
        let its = migration.name().version();
        if its.to_string().as_str() > version && applied.contains(&its) {
            connection.revert_migration(migration).map_err(MigrateError::Failed)?;
        }
    }
    for migration in &known {
        let its = migration.name().version();
        if its.to_string().as_str() <= version && !applied.contains(&its) {
            connection.run_migration(migration).map_err(MigrateError::Failed)?;
        }
    }
    Ok(())
}

/// Runs the migrations that are missing in the caller's transaction, and returns their names.
pub(crate) fn forward(connection: &mut PgConnection) -> Result<Vec<String>, MigrateError> {
    let mut names = Vec::new();
    for migration in connection.pending_migrations(MIGRATIONS).map_err(MigrateError::Failed)? {
        connection.run_migration(&migration).map_err(MigrateError::Failed)?;
        names.push(migration.name().to_string());
    }
    Ok(names)
}

/// All migrations of this release, the oldest first.
pub(crate) fn migrations() -> Result<Vec<Box<dyn Migration<Pg>>>, MigrateError> {
    let mut known: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations().map_err(MigrateError::Failed)?;
    known.sort_by_key(|migration| migration.name().version().as_owned());
    Ok(known)
}

/// Did every migration of this release run? A role that can only read and write rows may ask, so it can serve.
fn is_up_to_date(connection: &mut PgConnection) -> Result<bool, MigrateError> {
    let (known, ran) = (known()?, ran(connection)?);
    if !known.iter().all(|version| ran.contains(version)) {
        return Ok(false);
    }
    // Migrations only add (`migrations/README.md`), so this release can go on after a newer one, and replicas of two releases can run
    // side by side (D-30).
    for migration in ran.iter().filter(|version| !known.contains(version)) {
        tracing::warn!(migration, "schema is newer than this program");
    }
    Ok(true)
}

/// Runs steps, each under the lock, until none is left. Returns their names.
fn one_by_one(
    connection: &mut PgConnection,
    step: impl Fn(&mut PgConnection) -> Result<Option<String>, Source>,
) -> Result<Vec<String>, MigrateError> {
    let mut names = Vec::new();
    loop {
        let taken = connection.transaction(|connection| {
            connection.batch_execute(LOCK).map_err(MigrateError::Lock)?;
            step(connection).map_err(MigrateError::of)
        })?;
        match taken {
            Some(name) => names.push(name),
            None => return Ok(names),
        }
    }
}
