//! What is at a path, before anything is opened there. Looking creates nothing and changes nothing.

use std::path::Path;
use std::{fs, io};

use countersign_sql::columns::Text;
use countersign_sql::setup::migrate::{MIGRATIONS_TABLE, is_ours, ran, unfinished};
use diesel::{OptionalExtension, RunQueryDsl, SqliteConnection};

use super::migrate;
use crate::error::{FileError, OpenError, SqliteError};
use crate::file::DatabaseFile;
use crate::pool;
use crate::statement::statement;

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A database that [`migrate`](crate::migrate()) or a server set up, of this release or another.
    Ours,
    /// A database of ours that a restore or a copy did not finish filling.
    Unfinished,
    /// No file.
    Nothing,
    /// A file without a table in it.
    Empty,
    /// Something else: another program's database, another kind of file, or a folder.
    Foreign,
}

/// SQLite's message for a file of another kind. Diesel passes on the messages, but not the codes.
const NOT_A_DATABASE: &str = "file is not a database";

/// Looks at a path. Waits for a process that is setting the database up. Blocks.
pub fn look(path: &Path) -> Result<Found, OpenError> {
    let file = DatabaseFile::at(path)?;
    let path = file.path();
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => return Ok(Found::Foreign),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(source) => return Err(FileError::Io { path, attempted: "found", source }.into()),
    }
    file.guard()?;
    match read(&file) {
        Ok(found) => Ok(found),
        Err(error) if says_not_a_database(&error) => Ok(Found::Foreign),
        Err(source) => Err(OpenError::Connect { path, source: Box::new(source) }),
    }
}

/// Are there signing keys in the database at a path? They can only be opened with the secret with which they were
/// sealed. Nothing there has none. Blocks.
pub fn has_keys(path: &Path) -> Result<bool, OpenError> {
    let file = DatabaseFile::at(path)?;
    if look(path)? != Found::Ours {
        return Ok(false);
    }
    let failed = |source| OpenError::Connect { path: file.path(), source: Box::new(source) };
    let mut connection = pool::connect_existing(&file, migrate::PATIENCE).map_err(failed)?;
    let key = AnyKey {}.get_result::<String>(&mut connection).optional();
    Ok(key.map_err(|error| failed(error.into()))?.is_some())
}

/// The tables decide: a file of no bytes is an empty database to SQLite, and a log may hold what the file
/// does not have yet.
fn read(file: &DatabaseFile) -> Result<Found, SqliteError> {
    let mut connection = pool::connect_existing(file, migrate::PATIENCE)?;
    let connection = &mut connection;
    let tables: Vec<String> = EveryTable {}.load(connection)?;
    if tables.is_empty() {
        return Ok(Found::Empty);
    }
    let has_others = tables.iter().any(|table| table != MIGRATIONS_TABLE);
    let versions = ran(connection)?;
    Ok(if versions.iter().any(|version| is_ours::<SqliteConnection>(version)) {
        if unfinished(connection)?.is_some() { Found::Unfinished } else { Found::Ours }
    } else if versions.is_empty() && !has_others {
        Found::Empty
    } else {
        Found::Foreign
    })
}

fn says_not_a_database(error: &SqliteError) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.to_string().contains(NOT_A_DATABASE) {
            return true;
        }
        cause = error.source();
    }
    false
}

statement! {
    EveryTable {} -> Text = "\
        SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
}

statement! {
    AnyKey {} -> Text = "SELECT kid FROM signing_keys LIMIT 1"
}
