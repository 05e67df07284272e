//! What is in a database, before anything is done with it. Looking creates nothing and changes nothing.

use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::Text;
use diesel::{PgConnection, QueryResult, QueryableByName, RunQueryDsl};

use crate::connection::ConnectionUrl;
use crate::migrate::{self, MIGRATIONS, MigrateError};

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

/// The versions of the migrations that ran in this database. Diesel's own look would create its table first, which needs the right to
/// create tables, even if it is there.
pub(crate) fn ran(connection: &mut PgConnection) -> QueryResult<Vec<String>> {
    let table = "SELECT COALESCE(to_regclass('__diesel_schema_migrations')::text, '') AS word";
    let table: Word = diesel::sql_query(table).get_result(connection)?;
    if table.word.is_empty() {
        return Ok(Vec::new());
    }
    let ran = diesel::sql_query("SELECT version::text AS word FROM __diesel_schema_migrations");
    Ok(ran.load::<Word>(connection)?.into_iter().map(|version| version.word).collect())
}

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = Text)]
    word: String,
}
