//! What a database is asked before its schema is known.

use diesel::prelude::*;
use diesel::sql_types::Text;

/// The table in which Diesel keeps which migrations have run.
pub(crate) const MIGRATIONS_TABLE: &str = "__diesel_schema_migrations";

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
