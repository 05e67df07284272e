//! A client is changed or deleted.

use countersign_ports::{DeleteClient, UpdateClient};
use diesel::prelude::*;
use diesel::sql_types::Binary;

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::client::ClientRow;
use crate::schema::{client_secrets, clients, consents, grants, signed_consents};
use crate::statement::statement;

/// Replaces everything but the id, the time of creation, the secrets and what the operator decided. Returns
/// whether the client existed.
pub(crate) fn update_client(
    connection: &mut SqliteConnection,
    command: &UpdateClient,
) -> Result<bool, SqliteError> {
    let UpdateClient { client, event } = command;
    let id = client.id.as_uuid();
    let id = id.as_bytes().as_slice();
    let row = ClientRow::from(client.clone());
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
    if updated == 0 {
        return Ok(false);
    }
    record(connection, event.as_deref())?;
    Ok(true)
}

/// Deletes the client with its grants and consents. A token without its grant is not found by anybody; it is
/// purged when it expires.
pub(crate) fn delete_client(
    connection: &mut SqliteConnection,
    command: &DeleteClient,
) -> Result<bool, SqliteError> {
    let id = command.id.as_uuid();
    let id = id.as_bytes().as_slice();
    diesel::delete(grants::table.filter(grants::client_id.eq(id))).execute(connection)?;
    diesel::delete(signed_consents::table.filter(signed_consents::client_id.eq(id))).execute(connection)?;
    diesel::delete(consents::table.filter(consents::client_id.eq(id))).execute(connection)?;
    let deleted = diesel::delete(clients::table.find(id)).execute(connection)?;
    if deleted == 0 {
        return Ok(false);
    }
    record(connection, command.event.as_deref())?;
    Ok(true)
}

statement! {
    /// A client that had another way to authenticate.
    FirstSecret<'a> {
        id: &'a [u8] as Binary,
        hash: &'a [u8] as Binary,
    } = "UPDATE clients SET secret_hash = :hash WHERE id = :id AND secret_hash IS NULL"
}

statement! {
    /// A client that has another way to authenticate now.
    NoSecrets<'a> {
        id: &'a [u8] as Binary,
    } = "\
        UPDATE clients SET secret_hash = NULL, old_secret_hash = NULL, old_secret_expires_at = NULL \
        WHERE id = :id AND secret_hash IS NOT NULL"
}
