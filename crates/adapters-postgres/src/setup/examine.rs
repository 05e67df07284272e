//! Facts about a database for its operator. Looking changes nothing, and brings no schema up to date.

use countersign_domain::archive::ForeignPart;
use countersign_sql::setup::catalog::{absent, foreign};
use countersign_sql::setup::migrate::{made_here, missing, newer};
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Bool, Integer, Text};
use diesel::{Queryable, RunQueryDsl};

use super::migrate::MigrateError;
use crate::connect::connection::ConnectionUrl;
use crate::statement::statement;

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

/// Examines a database of ours. Blocks for some seconds at most, once there is a connection.
pub fn examine(url: &str) -> Result<Examined, MigrateError> {
    let mut connection = ConnectionUrl::parse(url)?.open()?;
    connection.batch_execute(PATIENCE)?;
    let facts: Facts = AskFacts {}.get_result(&mut connection)?;
    let closed = ClosedTables {}.load(&mut connection)?;
    let made = made_here(&mut connection)?;
    let absent = absent(&mut connection, &made)?;
    let foreign = foreign(&mut connection, &made)?;
    let (missing, newer) = (missing(&mut connection)?, newer(&mut connection)?);
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

#[derive(Queryable)]
struct Facts {
    version: String,
    major: i32,
    bytes: i64,
    role: String,
    fsync: bool,
    full_page_writes: bool,
    autovacuum: bool,
    synchronous_commit: String,
    connections_left: i64,
}

statement! {
    AskFacts {} -> (Text, Integer, BigInt, Text, Bool, Bool, Bool, Text, BigInt) = "\
        SELECT current_setting('server_version'), \
          CAST(current_setting('server_version_num') AS INTEGER) / 10000, \
          pg_database_size(current_database()), \
          CAST(current_user AS TEXT), \
          CAST(current_setting('fsync') AS BOOLEAN), \
          CAST(current_setting('full_page_writes') AS BOOLEAN), \
          CAST(current_setting('autovacuum') AS BOOLEAN), \
          current_setting('synchronous_commit'), \
          CAST(current_setting('max_connections') AS BIGINT) \
            - CAST(current_setting('superuser_reserved_connections') AS BIGINT) \
            - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')"
}

statement! {
    /// The tables that a sign-in needs.
    ClosedTables {} -> Text = "\
        SELECT name \
        FROM unnest(ARRAY['clients', 'users', 'wallets', 'consents', 'grants', 'tokens', 'login_sessions', 'signing_keys', \
          'fresh_events', 'replicas']) AS name \
        WHERE to_regclass(name) IS NOT NULL \
          AND NOT (has_table_privilege(to_regclass(name), 'SELECT') AND has_table_privilege(to_regclass(name), 'INSERT') \
            AND has_table_privilege(to_regclass(name), 'UPDATE') AND has_table_privilege(to_regclass(name), 'DELETE')) \
        ORDER BY 1"
}
