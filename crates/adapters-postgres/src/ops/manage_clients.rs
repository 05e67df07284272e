//! A client is changed or deleted.

use countersign_ports::{DeleteClient, UpdateClient};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Uuid as SqlUuid};
use uuid::Uuid;

use super::record_event::record;
use super::transaction::all_or_nothing;
use crate::error::OpResult;
use crate::rows::client::ClientRow;
use crate::schema::{client_secrets, clients};
use crate::statement::statement;

/// Replaces everything but the id, the time of creation, the opened resources and the secrets. Returns whether
/// the client existed.
pub(crate) fn update_client(connection: &mut PgConnection, command: &UpdateClient) -> OpResult<bool> {
    let row = ClientRow::from(command.client.clone());
    let id = row.id;
    all_or_nothing(connection, |connection| {
        let updated = diesel::update(clients::table.find(id)).set(&row).execute(connection)?;
        match row.secret_hash.as_deref() {
            Some(hash) => {
                FirstSecret { id, hash }.execute(connection)?;
            }
            None => {
                NoSecrets { id }.execute(connection)?;
                diesel::delete(client_secrets::table.filter(client_secrets::client_id.eq(id)))
                    .execute(connection)?;
            }
        }
        if updated == 1 {
            record(connection, command.event.as_deref())?;
        }
        Ok(updated == 1)
    })
}

pub(crate) fn delete_client(connection: &mut PgConnection, command: &DeleteClient) -> OpResult<bool> {
    let id = command.id.as_uuid();
    all_or_nothing(connection, |connection| {
        // Operations that give the client tokens lock it. Once this lock is taken, their grants are there.
        let locked = clients::table.find(id).select(clients::id).for_update();
        locked.first::<Uuid>(connection).optional()?;
        TellOfUsers { client: id }.execute(connection)?;
        DeleteConsents { client: id }.execute(connection)?;
        DeleteOfEarlierRelease { client: id }.execute(connection)?;
        // A statement of its own: it sees the grants of the logins that the one before waited for.
        let is_deleted = DeleteWithGrants { id }.execute(connection)? == 1;
        if is_deleted {
            record(connection, command.event.as_deref())?;
        }
        Ok(is_deleted)
    })
}

statement! {
    /// A client that had another way to authenticate.
    FirstSecret<'a> {
        id: Uuid as SqlUuid,
        hash: &'a [u8] as Binary,
    } = "UPDATE clients SET secret_hash = :hash WHERE id = :id AND secret_hash IS NULL"
}

statement! {
    /// A client that has another way to authenticate now.
    NoSecrets { id: Uuid as SqlUuid } = "\
        UPDATE clients SET secret_hash = NULL, old_secret_hash = NULL, old_secret_expires_at = NULL \
        WHERE id = :id AND secret_hash IS NOT NULL"
}

statement! {
    /// The client that is deleted was told about these users, and that outlives the grants. A trigger does
    /// the same, but it would lock the users after the grants.
    TellOfUsers { client: Uuid as SqlUuid } = "\
        WITH told AS MATERIALIZED ( \
          SELECT id FROM users WHERE untold_since IS NOT NULL \
          AND id IN (SELECT user_id FROM grants WHERE client_id = :client AND redeemed_at IS NOT NULL) \
          ORDER BY id FOR NO KEY UPDATE \
        ) \
        UPDATE users SET untold_since = NULL FROM told WHERE users.id = told.id"
}

statement! {
    /// Waits for current logins at this client, except users' first ones there.
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
    /// The previous release would still rely on them.
    DeleteOfEarlierRelease { client: Uuid as SqlUuid } = "DELETE FROM consents WHERE client_id = :client"
}

statement! {
    /// Grants are deleted with their client. A token without its grant is not found by anybody; it is purged
    /// when it expires.
    DeleteWithGrants { id: Uuid as SqlUuid } = "\
        WITH gone AS (DELETE FROM grants WHERE client_id = :id) \
        DELETE FROM clients WHERE id = :id"
}
