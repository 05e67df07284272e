//! Resources are opened to a client, or closed.

use countersign_ports::ChangeResources;
use diesel::prelude::*;

use super::record_event::record;
use super::transaction::all_or_nothing;
use crate::error::OpResult;
use crate::rows::field::{from_lines, lines};
use crate::schema::clients;

/// The lock keeps others from changing the list between the read and the update. Returns whether the client
/// existed.
pub(crate) fn change_resources(connection: &mut PgConnection, command: &ChangeResources) -> OpResult<bool> {
    all_or_nothing(connection, |connection| {
        let client = clients::table.find(command.client.as_uuid());
        let locked = client.select(clients::resources).for_update();
        let Some(stored) = locked.first::<String>(connection).optional()? else { return Ok(false) };
        let mut resources = from_lines(&stored).map(ToOwned::to_owned).collect();
        command.change.apply(&mut resources);
        let resources = lines(resources.iter().map(String::as_str));
        diesel::update(client).set(clients::resources.eq(resources)).execute(connection)?;
        record(connection, command.event.as_deref())?;
        Ok(true)
    })
}
