//! Migrations, which are embedded in the binary.
//!
//! Each migration is a transaction of its own, which holds an advisory lock from its first statement to its
//! end. Of several replicas that start at once, one runs it, and the others wait and find it done (D-16). One
//! that dies halfway leaves nothing behind. The lock belongs to the transaction, not to the session: a pooler
//! that lends the session to another client would lend the lock, too.

use countersign_ports::error::Source;
use countersign_sql::setup::migrate::{
    BeforeFirstRelease, SchemaError, Unfinished, missing, newest_known, revert_next, run_next, unfinished,
    warn_of_newer,
};
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};

use crate::connect::connection::ConnectionUrl;
use crate::error::ConnectError;

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
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
    /// The database is of a build from before the first release.
    #[error(transparent)]
    TooOld(#[from] BeforeFirstRelease),
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

impl From<SchemaError> for MigrateError {
    /// Diesel does not pass on the SQLSTATE, so the words must do.
    fn from(error: SchemaError) -> Self {
        let source = match error {
            SchemaError::Migration(source) => source,
            SchemaError::Query(error) => return error.into(),
            SchemaError::TooOld(error) => return error.into(),
        };
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

/// Reverts all migrations, the newest first, and returns their names. Everything that was stored is
/// deleted. Blocks.
pub fn revert_all(url: &str) -> Result<Vec<String>, MigrateError> {
    one_by_one(&mut ConnectionUrl::parse(url)?.open()?, |connection| revert_next(connection, ""))
}

/// Runs the migrations that are missing. Refuses a database that a restore or a copy did not finish filling.
pub(crate) fn run_pending(connection: &mut PgConnection) -> Result<Vec<String>, MigrateError> {
    match unfinished(connection)? {
        None => catch_up(connection),
        Some(unfinished) => Err(unfinished.into()),
    }
}

/// Runs the migrations that are missing, whether the database is finished or not.
pub(crate) fn run_to_fill(url: &ConnectionUrl) -> Result<Vec<String>, MigrateError> {
    catch_up(&mut url.open()?)
}

/// A role that can only read and write rows may ask whether anything is missing, so it can serve.
fn catch_up(connection: &mut PgConnection) -> Result<Vec<String>, MigrateError> {
    if missing(connection)?.is_empty() {
        warn_of_newer(connection)?;
        return Ok(Vec::new());
    }
    one_by_one(connection, |connection| run_next(connection, newest_known::<PgConnection>()))
}

/// Takes the lock of migrations until the end of the caller's transaction.
pub(crate) fn lock(connection: &mut PgConnection) -> Result<(), MigrateError> {
    connection.batch_execute(WAIT).map_err(MigrateError::Lock)
}

/// Runs steps, each under the lock, until none is left. Returns their names.
fn one_by_one(
    connection: &mut PgConnection,
    step: impl Fn(&mut PgConnection) -> Result<Option<String>, SchemaError>,
) -> Result<Vec<String>, MigrateError> {
    let mut names = Vec::new();
    loop {
        let taken = connection.transaction(|connection| {
            connection.batch_execute(LOCK).map_err(MigrateError::Lock)?;
            step(connection).map_err(MigrateError::from)
        })?;
        match taken {
            Some(name) => names.push(name),
            None => return Ok(names),
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_sql::setup::catalog::{absent, foreign};
    use countersign_sql::setup::migrate::{Migrated, made_here};
    use countersign_test_postgres::Cluster;

    use super::*;

    #[test]
    fn s_14_what_migrations_say_is_what_the_catalog_has_after_each_of_them_up_and_down() {
        let url = ConnectionUrl::parse(&Cluster::shared().create_database()).unwrap();
        let mut connection = url.open().unwrap();
        for script in PgConnection::SCRIPTS.iter().chain(PgConnection::SCRIPTS.iter().rev()) {
            while revert_next(&mut connection, script.version).unwrap().is_some() {}
            while run_next(&mut connection, script.version).unwrap().is_some() {}
            let made = made_here(&mut connection).unwrap();
            assert!(made.tables.contains_key("clients"), "{}", script.name);
            assert_eq!(absent(&mut connection, &made).unwrap(), Vec::<String>::new(), "{}", script.name);
            assert_eq!(foreign(&mut connection, &made).unwrap(), [], "{}", script.name);
        }
    }
}
