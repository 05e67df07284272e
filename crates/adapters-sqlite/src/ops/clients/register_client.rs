//! A client is registered.

use countersign_ports::{RegisterClient, Registered};
use countersign_sql::SqlError;
use countersign_sql::columns::Id;
use countersign_sql::ops::events::record_event::record;
use countersign_sql::rows::client::ClientRow;
use countersign_sql::schema::clients;
use diesel::prelude::*;

use crate::statement::statement;

/// Guard: the id is free. A repeated command is recognized by its registration token, which no other command
/// has.
pub(crate) fn register_client(
    connection: &mut SqliteConnection,
    command: &RegisterClient,
) -> Result<Registered, SqlError> {
    let store = StoreClient { client: ClientRow::from(command.client.clone()) };
    if store.execute(connection)? == 1 {
        record(connection, command.event.as_deref())?;
        return Ok(Registered::Stored);
    }
    Ok(if is_registered(connection, command)? { Registered::Stored } else { Registered::IdTaken })
}

/// Is it this command's client that has the id?
pub(crate) fn is_registered(
    connection: &mut SqliteConnection,
    command: &RegisterClient,
) -> Result<bool, SqlError> {
    let id = Id::from(command.client.id);
    let present: Option<Vec<u8>> =
        clients::table.find(id).select(clients::registration_token_hash).get_result(connection).optional()?;
    Ok(present.is_some_and(|hash| hash == command.client.registration_token.as_bytes()))
}

statement! {
    StoreClient {
        ..client: ClientRow,
    } = "
INSERT INTO clients (:client.columns) VALUES (:client.values) ON CONFLICT (id) DO NOTHING"
}
