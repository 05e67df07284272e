//! Can the database be written?

use diesel::prelude::*;

use crate::error::SqliteError;
use crate::schema::signing_keys;

/// Asks whether the database can be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ping;

/// Writes a page without changing it. Once that is on disk, the writer is alive, nothing locks it out, and
/// there is room.
pub(crate) fn ping(connection: &mut SqliteConnection, _command: &Ping) -> Result<(), SqliteError> {
    let newest = signing_keys::table.select(signing_keys::kid).order(signing_keys::kid.desc()).limit(1);
    let Some(kid) = newest.first::<String>(connection).optional()? else { return Ok(()) };
    diesel::update(signing_keys::table.find(&kid)).set(signing_keys::kid.eq(&kid)).execute(connection)?;
    Ok(())
}
