//! Facts about a database for its operator. Looking changes nothing, and brings no schema up to date.

use std::path::Path;

use countersign_domain::archive::ForeignPart;
use countersign_sql::setup::catalog::{absent, foreign};
use countersign_sql::setup::migrate::{made_here, missing, newer};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::migrate::PATIENCE;
use crate::error::{OpenError, SqliteError};
use crate::file::DatabaseFile;
use crate::pool;
use crate::statement::statement;

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
    let (version, journal_mode, size): (String, String, i64) = AskFacts {}.get_result(connection)?;
    let bytes = u64::try_from(size).unwrap_or_default();
    let search = (bytes <= SEARCHED).then(|| search(connection));
    let made = made_here(connection)?;
    let absent = absent(connection, &made)?;
    let foreign = foreign(connection, &made)?;
    let (missing, newer) = (missing(connection)?, newer(connection)?);
    Ok(Examined { version, journal_mode, bytes, search, missing, newer, absent, foreign })
}

/// A database that cannot even be searched is damaged.
fn search(connection: &mut SqliteConnection) -> Search {
    let found: QueryResult<String> = QuickCheck {}.get_result(connection);
    match found {
        Ok(found) if found == "ok" => Search::Sound,
        Ok(found) => Search::Damaged(found),
        Err(error) => Search::Damaged(error.to_string()),
    }
}

statement! {
    AskFacts {} -> (Text, Text, BigInt) = "\
        SELECT sqlite_version(), journal_mode, page_count * page_size \
        FROM pragma_journal_mode, pragma_page_count, pragma_page_size"
}

statement! {
    QuickCheck {} -> Text = "SELECT quick_check FROM pragma_quick_check LIMIT 1"
}
