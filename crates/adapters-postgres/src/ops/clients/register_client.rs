//! A client is registered.

use countersign_ports::{RegisterClient, Registered};
use countersign_sql::SqlError;
use countersign_sql::columns::Id;
use countersign_sql::ops::events::record_event::act_and_record;
use countersign_sql::rows::client::ClientRow;
use countersign_sql::schema::clients;
use diesel::prelude::*;

use crate::statement::statement;

pub(crate) fn register_client(
    connection: &mut PgConnection,
    command: &RegisterClient,
) -> Result<Registered, SqlError> {
    let store = StoreClient { client: ClientRow::from(command.client.clone()) };
    let store = |connection: &mut PgConnection| Ok(store.execute(connection)? == 1);
    let is_new = act_and_record(connection, command.event.as_deref(), store)?;
    if is_new {
        return Ok(Registered::Stored);
    }
    Ok(if is_registered(connection, command)? { Registered::Stored } else { Registered::IdTaken })
}

/// Is it this command's client that has the id?
pub(crate) fn is_registered(
    connection: &mut PgConnection,
    command: &RegisterClient,
) -> Result<bool, SqlError> {
    let present: Option<Vec<u8>> = clients::table
        .find(Id::from(command.client.id))
        .select(clients::registration_token_hash)
        .first(connection)
        .optional()?;
    Ok(present.is_some_and(|hash| hash == command.client.registration_token.as_bytes()))
}

statement! {
    StoreClient {
        ..client: ClientRow,
    } = "
INSERT INTO clients (:client.columns) VALUES (:client.values) ON CONFLICT (id) DO NOTHING"
}
