//! Clients are registered.

use countersign_ports::{RegisterClient, Registered};
use countersign_sql::rows::client::{ClientRow, ClientRows};
use diesel::prelude::*;
use diesel::sql_types::Uuid as SqlUuid;
use uuid::Uuid;

use super::where_stored;
use crate::batched::Batched;
use crate::error::OpResult;
use crate::ops::register_client;
use crate::statement::{Act, ActText, load, statement};

impl Batched for RegisterClient {
    type Outcome = Registered;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        [self.client.id.as_uuid().as_u128()]
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Registered>>> {
        // What operators signed has guards of its own, so it is carried out alone.
        let is_plain = |command: &&Self| command.event.as_ref().is_none_or(|event| event.signed.is_none());
        let plain = || batch.iter().filter(is_plain);
        let clients = plain().map(|command| ClientRow::from(command.client.clone())).collect();
        let id = |command: &Self| command.client.id.as_uuid();
        let events = plain().filter_map(|command| Some((id(command), command.event.as_deref()?)));
        let stored: Vec<Uuid> = load(connection, StoreClients { clients }, events)?;
        Ok(where_stored(batch, stored, id, Registered::Stored))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Registered> {
        Ok(register_client(connection, self)?)
    }
}

statement! {
    /// Returns the clients whose ids were free.
    StoreClients {
        ..clients: ClientRows,
    } -> SqlUuid = "\
        INSERT INTO clients (:clients.columns) \
        SELECT * FROM unnest(:clients.values) AS asked (id) ORDER BY id \
        ON CONFLICT (id) DO NOTHING \
        RETURNING id"
}

impl Act for StoreClients {
    type Answer = SqlUuid;
    const TEXT: ActText = ActText::Whole { makes: true };
}
