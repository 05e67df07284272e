//! Migrations, which are embedded in the binary.
//!
//! Each migration is a transaction of its own, which holds an advisory lock from its first statement to its
//! end. Of several replicas that start at once, one runs it, and the others wait and find it done (D-16). One
//! that dies halfway leaves nothing behind. The lock belongs to the transaction, not to the session: a pooler
//! that lends the session to another client would lend the lock, too.

use countersign_ports::error::Source;
use countersign_statement::made::Made;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::{Connection, PgConnection, QueryResult};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use super::made::made;
use super::words::{has_table, ran, words};
use crate::connect::connection::ConnectionUrl;
use crate::error::ConnectError;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Takes the lock until the transaction ends, or fails after a minute. What is read afterwards must include
/// what the previous holder wrote. The number spells `counters` in ASCII.
const LOCK: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '60s'; \
    SELECT pg_advisory_xact_lock(x'636f756e74657273'::bigint)";

/// The same in a transaction that has begun.
const WAIT: &str = "SELECT pg_advisory_xact_lock(x'636f756e74657273'::bigint)";

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
        "a {work} did not finish filling this database: everything that was in it before is there, untouched. To go on with that, run \
         `countersign restore --undo`; otherwise run `countersign {work}` again"
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
    /// A statement was refused, or a transaction could not begin or end.
    #[error("database refused, or the connection failed")]
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
    run_pending(&mut ConnectionUrl::parse(url)?.open()?)
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
pub(crate) fn run_pending(connection: &mut PgConnection) -> Result<Vec<String>, MigrateError> {
    if let Some(work) = unfinished(connection)? {
        return Err(MigrateError::Unfinished { work });
    }
    catch_up(connection)
}

/// Runs the migrations that are missing, whether the database is finished or not.
pub(crate) fn run_to_fill(url: &ConnectionUrl) -> Result<Vec<String>, MigrateError> {
    catch_up(&mut url.open()?)
}

fn catch_up(connection: &mut PgConnection) -> Result<Vec<String>, MigrateError> {
    if is_up_to_date(connection)? {
        return Ok(Vec::new());
    }
    one_by_one(connection, |connection| {
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
    let ran = ran(connection)?;
    let known = migrations()?;
    for migration in known.iter().rev() {
        let its = migration.name().version().to_string();
        if its.as_str() > version && ran.contains(&its) {
            connection.revert_migration(migration).map_err(MigrateError::of)?;
        }
    }
    run_missing(connection, &ran, |its| its <= version)?;
    Ok(())
}

/// Runs the migrations that did not run, as far as they are wanted, and returns their names. If there is none, this needs no right to change
/// tables: diesel's own look would create its table even if it is there.
fn run_missing(
    connection: &mut PgConnection,
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
            connection.applied_migrations().map_err(MigrateError::of)?;
        }
        connection.run_migration(&migration).map_err(MigrateError::of)?;
        names.push(migration.name().to_string());
    }
    Ok(names)
}

/// What the migrations made that ran in this database.
pub(crate) fn made_here(connection: &mut PgConnection) -> QueryResult<Made> {
    let ran = ran(connection)?;
    Ok(made(|version| ran.iter().any(|ran| ran == version)))
}

/// Takes the lock of migrations until the end of the caller's transaction.
pub(crate) fn lock(connection: &mut PgConnection) -> Result<(), MigrateError> {
    connection.batch_execute(WAIT).map_err(MigrateError::Lock)
}

/// Runs the migrations that are missing in the caller's transaction, and returns their names.
pub(crate) fn forward(connection: &mut PgConnection) -> Result<Vec<String>, MigrateError> {
    let ran = ran(connection)?;
    run_missing(connection, &ran, |_| true)
}

/// All migrations of this release, the oldest first.
pub(crate) fn migrations() -> Result<Vec<Box<dyn Migration<Pg>>>, MigrateError> {
    let mut known: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations().map_err(MigrateError::Failed)?;
    known.sort_by_key(|migration| migration.name().version().as_owned());
    Ok(known)
}

/// The versions of all migrations of this release.
pub(crate) fn known() -> Result<Vec<String>, MigrateError> {
    Ok(migrations()?.iter().map(|migration| migration.name().version().to_string()).collect())
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
