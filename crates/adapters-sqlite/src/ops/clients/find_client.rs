//! Clients are looked up.

use countersign_domain::client::Client;
use countersign_domain::id::ClientId;
use countersign_sql::columns::Id;
use countersign_sql::rows::client::ClientRow;
use countersign_sql::schema::clients;
use diesel::prelude::*;

use crate::error::SqliteError;

/// By `get_result`, as in `tokens/read.rs`.
pub(crate) fn find_client(
    connection: &mut SqliteConnection,
    id: ClientId,
) -> Result<Option<Client>, SqliteError> {
    let id = Id::from(id);
    let row = clients::table.find(id).select(ClientRow::as_select()).get_result(connection).optional()?;
    Ok(row.map(Client::try_from).transpose()?)
}
