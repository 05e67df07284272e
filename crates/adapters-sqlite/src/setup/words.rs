//! What a database is asked before its schema is known.

use diesel::prelude::*;
use diesel::sql_types::Text;

/// The table in which Diesel keeps which migrations have run.
pub(crate) const MIGRATIONS_TABLE: &str = "__diesel_schema_migrations";

/// The versions of the migrations that ran in this database, in their order. Diesel's own look would create its table.
pub(crate) fn ran(connection: &mut SqliteConnection) -> QueryResult<Vec<String>> {
    if !has_table(connection, MIGRATIONS_TABLE)? {
        return Ok(Vec::new());
    }
    words(connection, &format!("SELECT version AS word FROM {MIGRATIONS_TABLE} ORDER BY 1"))
}

/// Is there a table of this name?
pub(crate) fn has_table(connection: &mut SqliteConnection, name: &str) -> QueryResult<bool> {
    let found = diesel::sql_query("SELECT name AS word FROM sqlite_schema WHERE type = 'table' AND name = ?");
    Ok(!found.bind::<Text, _>(name).load::<Word>(connection)?.is_empty())
}

/// The column `word` of a query.
pub(crate) fn words(connection: &mut SqliteConnection, sql: &str) -> QueryResult<Vec<String>> {
    Ok(diesel::sql_query(sql).load::<Word>(connection)?.into_iter().map(|row| row.word).collect())
}

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = Text)]
    word: String,
}
