//! What is in a database, before anything is done with it. Looking creates nothing and changes nothing.

use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::Text;
use diesel::{QueryableByName, RunQueryDsl};

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
    let table = "SELECT COALESCE(to_regclass('__diesel_schema_migrations')::text, '') AS word";
    let table: Word = diesel::sql_query(table).get_result(&mut connection)?;
    if table.word.is_empty() {
        return Ok(Found::Nothing);
    }
    let known: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations().map_err(MigrateError::Failed)?;
    let known: Vec<String> = known.iter().map(|migration| migration.name().version().to_string()).collect();
    let ran: Vec<Word> = diesel::sql_query("SELECT version::text AS word FROM __diesel_schema_migrations")
        .load(&mut connection)?;
    Ok(if !ran.iter().any(|version| known.contains(&version.word)) {
        Found::Nothing
    } else if migrate::unfinished(&mut connection)?.is_some() {
        Found::Unfinished
    } else {
        Found::Ours
    })
}

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = Text)]
    word: String,
}
