//! Clients come, change and go.

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_ports::{RegisterClient, Registered};
use diesel::prelude::*;
use diesel::sql_types::Uuid as SqlUuid;
use uuid::Uuid;

use super::wallets::all_or_nothing;
use crate::error::OpResult;
use crate::rows::client::ClientRow;
use crate::schema::clients;
use crate::statement::statement;

statement! {
    /// Waits for logins at this client that are under way and not their user's first there.
    DeleteConsents { client: Uuid as SqlUuid } = "\
        WITH given AS MATERIALIZED ( \
          SELECT user_id, destination, audiences FROM signed_consents WHERE client_id = :client \
          ORDER BY user_id, destination, audiences FOR UPDATE \
        ) \
        DELETE FROM signed_consents USING given \
        WHERE signed_consents.user_id = given.user_id AND client_id = :client \
          AND signed_consents.destination = given.destination AND signed_consents.audiences = given.audiences"
}

statement! {
    /// The release before this one would go on by them.
    DeleteOfEarlierRelease { client: Uuid as SqlUuid } = "DELETE FROM consents WHERE client_id = :client"
}

statement! {
    /// Clients that go were told of these users: that outlives the grants (a trigger sees to it too, but would lock the users after
    /// the grants).
    TellOfUsers { client: Uuid as SqlUuid } = "\
        WITH told AS MATERIALIZED ( \
          SELECT id FROM users WHERE untold_since IS NOT NULL \
          AND id IN (SELECT user_id FROM grants WHERE client_id = :client AND redeemed_at IS NOT NULL) \
          ORDER BY id FOR NO KEY UPDATE \
        ) \
        UPDATE users SET untold_since = NULL FROM told WHERE users.id = told.id"
}

statement! {
    /// Grants go with their client; a token without its grant is found by nobody, and is purged in its time.
    DeleteClient { id: Uuid as SqlUuid } = "\
        WITH gone AS (DELETE FROM grants WHERE client_id = :id) \
        DELETE FROM clients WHERE id = :id"
}

pub(crate) fn register_client(
    connection: &mut PgConnection,
    command: &RegisterClient,
) -> OpResult<Registered> {
    let stored = diesel::insert_into(clients::table)
        .values(ClientRow::from(command.client.clone()))
        .on_conflict(clients::id)
        .do_nothing()
        .execute(connection)?;
    if stored == 1 {
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

pub(crate) fn update_client(connection: &mut PgConnection, client: &Client) -> OpResult<bool> {
    let row = ClientRow::from(client.clone());
    let updated = diesel::update(clients::table.find(row.id)).set(&row).execute(connection)?;
    Ok(updated == 1)
}

pub(crate) fn delete_client(connection: &mut PgConnection, id: ClientId) -> OpResult<bool> {
    all_or_nothing(connection, |connection| {
        // Whoever gives the client tokens holds it: their grants are there when this lock is given.
        let locked = clients::table.find(id.as_uuid()).select(clients::id).for_update();
        locked.first::<Uuid>(connection).optional()?;
        TellOfUsers { client: id.as_uuid() }.execute(connection)?;
        DeleteConsents { client: id.as_uuid() }.execute(connection)?;
        DeleteOfEarlierRelease { client: id.as_uuid() }.execute(connection)?;
        // A statement of its own: it sees the grants of the logins that the one before waited for.
        Ok(DeleteClient { id: id.as_uuid() }.execute(connection)? == 1)
    })
}
