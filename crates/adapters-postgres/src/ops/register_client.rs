//! A client is registered.

use countersign_ports::{RegisterClient, Registered};
use diesel::prelude::*;

use super::transaction::act_and_record;
use crate::error::OpResult;
use crate::rows::client::ClientRow;
use crate::schema::clients;
use crate::statement::statement;

pub(crate) fn register_client(
    connection: &mut PgConnection,
    command: &RegisterClient,
) -> OpResult<Registered> {
    let store = StoreClient { client: ClientRow::from(command.client.clone()) };
    let is_new = act_and_record(
        connection,
        command.event.as_deref(),
        |is_new| *is_new,
        |connection| Ok(store.execute(connection)? == 1),
    )?;
    if is_new {
        return Ok(Registered::Stored);
    }
    let present: Option<Vec<u8>> = clients::table
        .find(command.client.id.as_uuid())
        .select(clients::registration_token_hash)
        .first(connection)
        .optional()?;
    let is_this_command = present.is_some_and(|hash| hash == command.client.registration_token.as_bytes());
    Ok(if is_this_command { Registered::Stored } else { Registered::IdTaken })
}

statement! {
    StoreClient {
        ..client: ClientRow,
    } = "
INSERT INTO clients (:client.columns) VALUES (:client.values) ON CONFLICT (id) DO NOTHING"
}
