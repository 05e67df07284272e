//! What is in a database, before anything is done with it. Looking creates nothing and changes nothing.

use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::Text;
use diesel::{PgConnection, QueryResult, QueryableByName, RunQueryDsl};

use crate::connection::ConnectionUrl;
use crate::migrate::{self, MIGRATIONS, MigrateError};

/// The table in which Diesel keeps which migrations have run.
pub(crate) const MIGRATIONS_TABLE: &str = "__diesel_schema_migrations";

/// What is in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// What [`migrate`](crate::migrate()) or a server set up, of this release or another.
    Ours,
    /// A database of ours that a restore or a copy did not finish filling.
    Unfinished,
    /// Nothing of ours. Another program may have tables there.
    Nothing,
}

/// Looks into a database. Blocks.
pub fn look(url: &str) -> Result<Found, MigrateError> {
    let mut connection = ConnectionUrl::parse(url)?.open()?;
    let (known, ran) = (known()?, ran(&mut connection)?);
    Ok(if !ran.iter().any(|version| known.contains(version)) {
        Found::Nothing
    } else if migrate::unfinished(&mut connection)?.is_some() {
        Found::Unfinished
    } else {
        Found::Ours
    })
}

/// The versions of all migrations of this release.
pub(crate) fn known() -> Result<Vec<String>, MigrateError> {
    let known: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations().map_err(MigrateError::Failed)?;
    Ok(known.iter().map(|migration| migration.name().version().to_string()).collect())
}

/// The versions of the migrations that ran in this database, in their order. Diesel's own look would create its table first, which needs the
/// right to create tables, even if it is there.
pub(crate) fn ran(connection: &mut PgConnection) -> QueryResult<Vec<String>> {
    if !has_table(connection, MIGRATIONS_TABLE)? {
        return Ok(Vec::new());
    }
    words(connection, &format!("SELECT version::text AS word FROM {MIGRATIONS_TABLE} ORDER BY 1"))
}

/// Is there a table of this name?
pub(crate) fn has_table(connection: &mut PgConnection, name: &str) -> QueryResult<bool> {
    let found = diesel::sql_query("SELECT COALESCE(to_regclass($1)::text, '') AS word");
    Ok(!found.bind::<Text, _>(name).get_result::<Word>(connection)?.word.is_empty())
}

/// The column `word` of a query.
pub(crate) fn words(connection: &mut PgConnection, sql: &str) -> QueryResult<Vec<String>> {
    Ok(diesel::sql_query(sql).load::<Word>(connection)?.into_iter().map(|row| row.word).collect())
}

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = Text)]
    word: String,
}
