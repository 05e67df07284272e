//! Facts about a database for its operator. Looking changes nothing, and brings no schema up to date.

use countersign_domain::archive::ForeignPart;
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Bool, Integer, Text};
use diesel::{QueryableByName, RunQueryDsl};

use super::catalog;
use super::migrate::{MigrateError, made_here, migrations};
use super::words::{ran, words};
use crate::connect::connection::ConnectionUrl;

/// What a database and its server are like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The release of PostgreSQL, as it says it.
    pub version: String,
    /// Its major number.
    pub major: i32,
    /// How large the database is.
    pub bytes: u64,
    /// The migrations of this release that the schema lacks.
    pub missing: Vec<String>,
    /// The migrations of the schema that this release does not know.
    pub newer: Vec<String>,
    /// Tables and columns of ours that are not there, although their migrations ran.
    pub absent: Vec<String>,
    /// What belongs to other programs.
    pub foreign: Vec<ForeignPart>,
    /// The role of the URL.
    pub role: String,
    /// Tables that the role cannot read and write.
    pub closed: Vec<String>,
    /// Does the server wait for the disk? Without this (`fsync`), a crash can destroy the database.
    pub fsync: bool,
    /// Does it write whole pages after a checkpoint? Without this, a crash can leave halves of pages.
    pub full_page_writes: bool,
    /// Are dead rows cleaned up?
    pub autovacuum: bool,
    /// When a commit counts as done, by default of the role.
    pub synchronous_commit: String,
    /// How many more connections the role can open.
    pub connections_left: i64,
}

/// How long a question may take.
const PATIENCE: &str = "SET statement_timeout = '4s'; SET lock_timeout = '2s'";

/// The tables that a sign-in needs.
const TABLES: &str = "\
    SELECT name AS word \
    FROM unnest(ARRAY['clients', 'users', 'wallets', 'consents', 'grants', 'tokens', 'login_sessions', 'signing_keys', \
      'fresh_events', 'replicas']) AS name \
    WHERE to_regclass(name) IS NOT NULL \
      AND NOT (has_table_privilege(to_regclass(name), 'SELECT') AND has_table_privilege(to_regclass(name), 'INSERT') \
        AND has_table_privilege(to_regclass(name), 'UPDATE') AND has_table_privilege(to_regclass(name), 'DELETE')) \
    ORDER BY 1";

const FACTS: &str = "\
    SELECT current_setting('server_version') AS version, \
      CAST(current_setting('server_version_num') AS INTEGER) / 10000 AS major, \
      pg_database_size(current_database()) AS bytes, \
      CAST(current_user AS TEXT) AS role, \
      CAST(current_setting('fsync') AS BOOLEAN) AS fsync, \
      CAST(current_setting('full_page_writes') AS BOOLEAN) AS full_page_writes, \
      CAST(current_setting('autovacuum') AS BOOLEAN) AS autovacuum, \
      current_setting('synchronous_commit') AS synchronous_commit, \
      CAST(current_setting('max_connections') AS BIGINT) \
        - CAST(current_setting('superuser_reserved_connections') AS BIGINT) \
        - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections_left";

/// Examines a database of ours. Blocks for some seconds at most, once there is a connection.
pub fn examine(url: &str) -> Result<Examined, MigrateError> {
    let mut connection = ConnectionUrl::parse(url)?.open()?;
    connection.batch_execute(PATIENCE)?;
    let facts: Facts = diesel::sql_query(FACTS).get_result(&mut connection)?;
    let closed = words(&mut connection, TABLES)?;
    let ran = ran(&mut connection)?;
    let made = made_here(&mut connection)?;
    let absent = catalog::missing(&mut connection, &made)?;
    let foreign = catalog::foreign(&mut connection, &made)?;
    let known: Vec<(String, String)> = migrations()?
        .iter()
        .map(|migration| (migration.name().version().to_string(), migration.name().to_string()))
        .collect();
    let missing =
        known.iter().filter(|(version, _)| !ran.contains(version)).map(|(_, name)| name.clone()).collect();
    let newer = ran.into_iter().filter(|ran| known.iter().all(|(version, _)| version != ran)).collect();
    Ok(Examined {
        version: facts.version,
        major: facts.major,
        bytes: u64::try_from(facts.bytes).unwrap_or_default(),
        missing,
        newer,
        absent,
        foreign,
        role: facts.role,
        closed,
        fsync: facts.fsync,
        full_page_writes: facts.full_page_writes,
        autovacuum: facts.autovacuum,
        synchronous_commit: facts.synchronous_commit,
        connections_left: facts.connections_left,
    })
}

#[derive(QueryableByName)]
struct Facts {
    #[diesel(sql_type = Text)]
    version: String,
    #[diesel(sql_type = Integer)]
    major: i32,
    #[diesel(sql_type = BigInt)]
    bytes: i64,
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Bool)]
    fsync: bool,
    #[diesel(sql_type = Bool)]
    full_page_writes: bool,
    #[diesel(sql_type = Bool)]
    autovacuum: bool,
    #[diesel(sql_type = Text)]
    synchronous_commit: String,
    #[diesel(sql_type = BigInt)]
    connections_left: i64,
}
