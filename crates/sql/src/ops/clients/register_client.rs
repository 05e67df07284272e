//! A client is registered.

use countersign_ports::{RegisterClient, Registered};

use crate::columns::{Binary, Id, Key};
use crate::database::Statement;
use crate::ops::events::record_event::act_and_record;
use crate::rows::client::ClientRow;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Guard: the id is free. A repeated command is recognized by its registration token, which no other command
/// has.
pub fn register_client(db: &mut impl Database, command: &RegisterClient) -> Result<Registered, SqlError> {
    let store = StoreClient { client: ClientRow::from(command.client.clone()) };
    let is_new = act_and_record(db, command.event.as_deref(), |db| Ok(store.run(db)? == 1))?;
    Ok(if is_new || is_registered(db, command)? { Registered::Stored } else { Registered::IdTaken })
}

/// Is it this command's client that has the id?
pub(crate) fn is_registered(db: &mut impl Database, command: &RegisterClient) -> Result<bool, SqlError> {
    let present: Option<Vec<u8>> = FindRegistrationToken { id: command.client.id.into() }.maybe(db)?;
    Ok(present.is_some_and(|hash| hash == command.client.registration_token.as_bytes()))
}

statement! {
    StoreClient {
        ..client: ClientRow,
    } = "
INSERT INTO clients (:client.columns) VALUES (:client.values) ON CONFLICT (id) DO NOTHING"
}

statement! {
    FindRegistrationToken { id: Id as Key } -> Binary = "SELECT registration_token_hash FROM clients WHERE id = :id"
}
