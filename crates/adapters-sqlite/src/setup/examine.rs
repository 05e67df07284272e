//! Facts about a database for its operator. Looking changes nothing, and brings no schema up to date.

use std::path::Path;

use countersign_domain::archive::ForeignPart;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::catalog;
use super::migrate::{PATIENCE, made_here, migrations};
use super::words::ran;
use crate::error::{OpenError, SqliteError};
use crate::file::DatabaseFile;
use crate::pool;

/// A larger database is not searched for damage: that reads all of it.
const SEARCHED: u64 = 256 * 1024 * 1024;

/// What a database is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The release of SQLite in this program.
    pub version: String,
    /// How the database keeps what it writes; `wal` if a server opened it.
    pub journal_mode: String,
    /// How large it is, without its log.
    pub bytes: u64,
    /// What SQLite's own check found; `None` if the database is too large to check each time.
    pub search: Option<Search>,
    /// The migrations of this release that the schema lacks.
    pub missing: Vec<String>,
    /// The migrations of the schema that this release does not know.
    pub newer: Vec<String>,
    /// Tables and columns of ours that are not there, although their migrations ran.
    pub absent: Vec<String>,
    /// What belongs to other programs.
    pub foreign: Vec<ForeignPart>,
}

/// The outcome of a search for damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// There is none.
    Sound,
    /// There is some: the first thing that SQLite says of it.
    Damaged(String),
}

/// Examines a database of ours. Blocks, for as long as it takes to read 256 MiB.
pub fn examine(path: &Path) -> Result<Examined, OpenError> {
    let file = DatabaseFile::at(path)?;
    file.guard()?;
    read(&file).map_err(|source| OpenError::Connect { path: file.path(), source: Box::new(source) })
}

fn read(file: &DatabaseFile) -> Result<Examined, SqliteError> {
    let mut connection = pool::connect_existing(file, PATIENCE)?;
    let connection = &mut connection;
    let word = |connection: &mut SqliteConnection, sql: &str| {
        diesel::sql_query(sql).get_result::<Word>(connection).map(|word| word.word)
    };
    let version = word(connection, "SELECT sqlite_version() AS word")?;
    let journal_mode = word(connection, "SELECT journal_mode AS word FROM pragma_journal_mode")?;
    let size = "SELECT page_count * page_size AS number FROM pragma_page_count, pragma_page_size";
    let size: Number = diesel::sql_query(size).get_result(connection)?;
    let bytes = u64::try_from(size.number).unwrap_or_default();
    let search = (bytes <= SEARCHED).then(|| search(connection));
    let ran = ran(connection)?;
    let made = made_here(connection)?;
    let absent = catalog::missing(connection, &made)?;
    let foreign = catalog::foreign(connection, &made)?;
    let known: Vec<(String, String)> = migrations()
        .unwrap_or_default()
        .iter()
        .map(|migration| (migration.name().version().to_string(), migration.name().to_string()))
        .collect();
    let missing =
        known.iter().filter(|(version, _)| !ran.contains(version)).map(|(_, name)| name.clone()).collect();
    let newer = ran.into_iter().filter(|ran| known.iter().all(|(version, _)| version != ran)).collect();
    Ok(Examined { version, journal_mode, bytes, search, missing, newer, absent, foreign })
}

/// A database that cannot even be searched is damaged.
fn search(connection: &mut SqliteConnection) -> Search {
    let found = diesel::sql_query("SELECT quick_check AS word FROM pragma_quick_check LIMIT 1");
    match found.get_result::<Word>(connection) {
        Ok(found) if found.word == "ok" => Search::Sound,
        Ok(found) => Search::Damaged(found.word),
        Err(error) => Search::Damaged(error.to_string()),
    }
}

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = Text)]
    word: String,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}
