//! Resources are opened to a client, or closed.

use countersign_ports::ChangeResources;
use diesel::prelude::*;

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::field::{from_lines, lines};
use crate::schema::clients;

/// Nobody else writes between the read and the update: there is one writer. Returns whether the client
/// existed.
pub(crate) fn change_resources(
    connection: &mut SqliteConnection,
    command: &ChangeResources,
) -> Result<bool, SqliteError> {
    let id = command.client.as_uuid();
    let client = clients::table.find(id.as_bytes().as_slice());
    let stored = client.select(clients::resources).get_result::<String>(connection).optional()?;
    let Some(stored) = stored else { return Ok(false) };
    let mut resources = from_lines(&stored).map(str::to_owned).collect();
    command.change.apply(&mut resources);
    let resources = lines(resources.iter().map(String::as_str));
    diesel::update(client).set(clients::resources.eq(resources)).execute(connection)?;
    record(connection, command.event.as_deref())?;
    Ok(true)
}
