//! Migrations, which are embedded in the binary: which there are, which ran, and running and reverting them.
//!
//! When they run, and under which lock, each adapter decides.

use countersign_ports::error::Source;
use countersign_statement::made::Made;
use diesel::QueryResult;
use diesel::connection::Connection;
use diesel::migration::{Migration, MigrationSource};
use diesel::result::Error;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::Database;
use crate::columns::{Bool, Text};
use crate::statement::statement;

/// A database whose tables our migrations make.
pub trait Migrated: Database + MigrationHarness<<Self as Connection>::Backend> {
    /// The migrations of this release.
    const MIGRATIONS: EmbeddedMigrations;

    /// What they are and run, the oldest first.
    const SCRIPTS: &'static [Script];

    /// Tables that only this kind of database has. They are made again of what the others hold, or of the clock of the machine.
    const TABLES_OF_ITS_OWN: &'static [&'static str];

    /// Columns that only this kind has, with their tables.
    const COLUMNS_OF_ITS_OWN: &'static [(&'static str, &'static str)];
}

/// A migration of this release.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// The name of its folder.
    pub name: &'static str,
    /// Its version, as Diesel makes one of the name.
    pub version: &'static str,
    /// The text that it runs.
    pub text: &'static str,
}

#[cfg(feature = "sqlite")]
impl Migrated for diesel::sqlite::SqliteConnection {
    const MIGRATIONS: EmbeddedMigrations = diesel_migrations::embed_migrations!("../../migrations/sqlite");
    const SCRIPTS: &'static [Script] = include!(concat!(env!("OUT_DIR"), "/sqlite.rs"));
    const TABLES_OF_ITS_OWN: &'static [&'static str] = &["access_tokens", "time_mark"];
    /// The position of a token's row among the `access_tokens`.
    const COLUMNS_OF_ITS_OWN: &'static [(&'static str, &'static str)] = &[("tokens", "place")];
}

#[cfg(feature = "postgres")]
impl Migrated for diesel::pg::PgConnection {
    const MIGRATIONS: EmbeddedMigrations = diesel_migrations::embed_migrations!("../../migrations/postgres");
    const SCRIPTS: &'static [Script] = include!(concat!(env!("OUT_DIR"), "/postgres.rs"));
    const TABLES_OF_ITS_OWN: &'static [&'static str] = &[];
    const COLUMNS_OF_ITS_OWN: &'static [(&'static str, &'static str)] = &[];
}

/// The table in which Diesel keeps which migrations have run.
pub const MIGRATIONS_TABLE: &str = "__diesel_schema_migrations";

/// The migration with which the first release begins. Builds before it had others up to here; a database that all of them ran in is the
/// same as one in which ours ran, and is left alone.
pub const FIRST_RELEASE: &str = "20261204000001";

/// A database, or an archive, is of a build from before the first release, and not of the last one.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "this has the schema of a build from before the first release, and nothing was changed: bring it up to date with the last of those builds \
     (whose newest migration is {FIRST_RELEASE}), by its `countersign migrate` or by restoring it there, then try again"
)]
pub struct BeforeFirstRelease;

/// A restore or a copy did not finish.
#[derive(Debug, thiserror::Error)]
#[error(
    "a {work} did not finish filling this database: everything that was in it before is there, untouched. To go on with that, run \
     `countersign restore --undo`; otherwise run `countersign {work}` again"
)]
pub struct Unfinished {
    /// Which work: `restore` or `copy`.
    pub work: String,
}

/// The schema could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// A migration failed.
    #[error(transparent)]
    Migration(Source),
    /// The database could not be asked which migrations ran.
    #[error(transparent)]
    Query(#[from] Error),
    /// It is too old.
    #[error(transparent)]
    TooOld(#[from] BeforeFirstRelease),
}

/// The versions of the migrations that ran in this database, in their order. Diesel's own look would create its table first, which needs the
/// right to create tables, even if it is there.
pub fn ran(db: &mut impl Database) -> QueryResult<Vec<String>> {
    if !has_table(db, MIGRATIONS_TABLE)? {
        return Ok(Vec::new());
    }
    db.load(Ran {})
}

/// Is there a table of this name?
pub fn has_table(db: &mut impl Database, name: &str) -> QueryResult<bool> {
    let has: Vec<bool> = db.load(HasTable { name })?;
    Ok(has == [true])
}

/// The work that did not finish filling this database, if there is one.
pub fn unfinished(db: &mut impl Database) -> QueryResult<Option<Unfinished>> {
    if !has_table(db, "unfinished")? {
        return Ok(None);
    }
    let works: Vec<String> = db.load(WorkBegun {})?;
    Ok(works.into_iter().next().map(|work| Unfinished { work }))
}

/// What the migrations make that have these versions.
pub fn made<D: Migrated>(has: impl Fn(&str) -> bool) -> Made {
    Made::by(D::SCRIPTS.iter().filter(|script| has(script.version)).map(|script| script.text))
}

/// What the migrations made that ran in this database.
pub fn made_here<D: Migrated>(db: &mut D) -> QueryResult<Made> {
    let ran = ran(db)?;
    Ok(made::<D>(|version| ran.iter().any(|ran| ran == version)))
}

/// The version of the newest migration of this release.
pub fn newest_known<D: Migrated>() -> &'static str {
    D::SCRIPTS.last().map_or("", |script| script.version)
}

/// The version of the newest migration that this database has.
pub fn newest(db: &mut impl Database) -> QueryResult<String> {
    Ok(ran(db)?.into_iter().max().unwrap_or_default())
}

/// The names of the migrations of this release that did not run here.
pub fn missing<D: Migrated>(db: &mut D) -> QueryResult<Vec<String>> {
    let ran = ran(db)?;
    let is_missing = |script: &&Script| ran.iter().all(|version| version != script.version);
    Ok(D::SCRIPTS.iter().filter(is_missing).map(|script| script.name.to_owned()).collect())
}

/// The versions of the migrations that ran here and that a newer release has.
pub fn newer<D: Migrated>(db: &mut D) -> QueryResult<Vec<String>> {
    let mut ran = ran(db)?;
    ran.retain(|version| version.as_str() > newest_known::<D>());
    Ok(ran)
}

/// Did some of the migrations run that builds before the first release had, and not all of them?
fn is_before_first_release<D: Migrated>(ran: &[String]) -> bool {
    let is_older = |version: &String| version.as_str() <= FIRST_RELEASE && !is_ours::<D>(version);
    ran.iter().any(is_older) && ran.iter().all(|version| version != FIRST_RELEASE)
}

/// Warns if a newer release was here. Migrations only add (`migrations/README.md`), so this release can go on after it, and replicas
/// of two releases can run side by side (D-30).
pub fn warn_of_newer<D: Migrated>(db: &mut D) -> QueryResult<()> {
    for migration in newer(db)? {
        tracing::warn!(migration, "schema is newer than this program");
    }
    Ok(())
}

/// Is this the version of a migration of this release?
pub fn is_ours<D: Migrated>(version: &str) -> bool {
    D::SCRIPTS.iter().any(|script| script.version == version)
}

/// Brings the schema to that of this version, which an archive has, up or down. The caller's transaction holds all of it.
pub fn to<D: Migrated>(db: &mut D, version: &str) -> Result<(), SchemaError> {
    if version < FIRST_RELEASE {
        return Err(BeforeFirstRelease.into());
    }
    while revert_next(db, version)?.is_some() {}
    while run_next(db, version)?.is_some() {}
    Ok(())
}

/// Runs the migrations that are missing, and returns their names. The caller's transaction holds all of it.
pub fn forward<D: Migrated>(db: &mut D) -> Result<Vec<String>, SchemaError> {
    std::iter::from_fn(|| run_next(db, newest_known::<D>()).transpose()).collect()
}

/// Runs the oldest migration that is missing, if it is not newer than this version, and returns its name. If there is none, this needs no right
/// to change tables.
pub fn run_next<D: Migrated>(db: &mut D, version: &str) -> Result<Option<String>, SchemaError> {
    let ran = ran(db)?;
    if is_before_first_release::<D>(&ran) {
        return Err(BeforeFirstRelease.into());
    }
    let is_next = |its: &str| its <= version && ran.iter().all(|ran| ran != its);
    let Some(next) = migrations::<D>()?.into_iter().find(|migration| is_next(&version_of(migration))) else {
        return Ok(None);
    };
    if ran.is_empty() {
        // Makes the table of migrations.
        db.applied_migrations().map_err(SchemaError::Migration)?;
    }
    db.run_migration(&next).map_err(SchemaError::Migration)?;
    Ok(Some(next.name().to_string()))
}

/// Reverts the newest migration, if it is newer than this version, and returns its name.
pub fn revert_next<D: Migrated>(db: &mut D, version: &str) -> Result<Option<String>, SchemaError> {
    let ran = ran(db)?;
    let is_next = |its: &str| its > version && ran.iter().any(|ran| ran == its);
    let Some(next) = migrations::<D>()?.into_iter().rfind(|migration| is_next(&version_of(migration))) else {
        return Ok(None);
    };
    db.revert_migration(&next).map_err(SchemaError::Migration)?;
    Ok(Some(next.name().to_string()))
}

type EachMigration<D> = Vec<Box<dyn Migration<<D as Connection>::Backend>>>;

/// All migrations of this release, the oldest first.
fn migrations<D: Migrated>() -> Result<EachMigration<D>, SchemaError> {
    let mut known: EachMigration<D> = D::MIGRATIONS.migrations().map_err(SchemaError::Migration)?;
    known.sort_by_key(|migration| migration.name().version().as_owned());
    Ok(known)
}

fn version_of<B: diesel::backend::Backend>(migration: &dyn Migration<B>) -> String {
    migration.name().version().to_string()
}

statement! {
    Ran {} -> Text = "SELECT CAST(version AS TEXT) FROM __diesel_schema_migrations ORDER BY 1"
}

statement! {
    /// PostgreSQL's `to_regclass` may answer from what this session knew before it waited for the lock of migrations.
    HasTable<'a> { name: &'a str as Text } -> Bool,
    sqlite = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name)",
    postgres = "SELECT EXISTS (SELECT FROM pg_class WHERE relname = :name AND pg_table_is_visible(oid))"
}

statement! {
    WorkBegun {} -> Text = "SELECT work FROM unfinished"
}
