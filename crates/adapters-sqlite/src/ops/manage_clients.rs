//! A client is changed or deleted.

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::rows::client::ClientRow;
use crate::schema::{clients, consents, grants, signed_consents};

/// Replaces everything but the id, the time of creation and what the operator decided. Returns whether the
/// client existed.
pub(crate) fn update_client(connection: &mut SqliteConnection, client: &Client) -> Result<bool, SqliteError> {
    let id = client.id.as_uuid();
    let updated = diesel::update(clients::table.find(id.as_bytes().as_slice()))
        .set(ClientRow::from(client.clone()))
        .execute(connection)?;
    Ok(updated == 1)
}

/// Deletes the client with its grants and consents. A token without its grant is not found by anybody; it is
/// purged when it expires.
pub(crate) fn delete_client(connection: &mut SqliteConnection, id: &ClientId) -> Result<bool, SqliteError> {
    let id = id.as_uuid();
    let id = id.as_bytes().as_slice();
    diesel::delete(grants::table.filter(grants::client_id.eq(id))).execute(connection)?;
    diesel::delete(signed_consents::table.filter(signed_consents::client_id.eq(id))).execute(connection)?;
    diesel::delete(consents::table.filter(consents::client_id.eq(id))).execute(connection)?;
    let deleted = diesel::delete(clients::table.find(id)).execute(connection)?;
    Ok(deleted == 1)
}
