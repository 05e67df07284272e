//! A client is registered.

use countersign_ports::{RegisterClient, Registered};
use diesel::prelude::*;

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::client::ClientRow;
use crate::schema::clients;
use crate::statement::statement;

/// Guard: the id is free. A repeated command is recognized by its registration token, which no other command
/// has.
pub(crate) fn register_client(
    connection: &mut SqliteConnection,
    command: &RegisterClient,
) -> Result<Registered, SqliteError> {
    let id = command.client.id.as_uuid();
    let store = StoreClient { client: ClientRow::from(command.client.clone()) };
    if store.execute(connection)? == 1 {
        record(connection, command.event.as_deref())?;
        return Ok(Registered::Stored);
    }
    let present: Vec<u8> = clients::table
        .find(id.as_bytes().as_slice())
        .select(clients::registration_token_hash)
        .get_result(connection)?;
    let is_repeated = present == command.client.registration_token.as_bytes();
    Ok(if is_repeated { Registered::Stored } else { Registered::IdTaken })
}

statement! {
    StoreClient {
        ..client: ClientRow,
    } = "
INSERT INTO clients (:client.columns) VALUES (:client.values) ON CONFLICT (id) DO NOTHING"
}
