//! Clients that a document describes are deleted when they are no longer used.

use countersign_domain::id::ClientId;
use countersign_ports::{DocumentsForgotten, ForgetDocuments};
use countersign_sql::columns::{At, Id, Key, Row, StoredId};
use countersign_sql::schema::clients;
use diesel::prelude::*;
use uuid::Uuid;

use crate::error::SqliteError;
use crate::statement::statement;

/// Finds them by the index `clients_described`.
pub(crate) fn forget_documents(
    connection: &mut SqliteConnection,
    command: &ForgetDocuments,
) -> Result<DocumentsForgotten, SqliteError> {
    // The nil UUID is the lowest, and no client has it.
    let after = command.after.map_or(Id(Uuid::nil()), Id::from);
    let asked: Vec<StoredId> = clients::table
        .filter(clients::document.is_not_null())
        .filter(clients::created_at.lt(At(command.before.time())))
        .filter(clients::id.gt(after))
        .order(clients::id)
        .limit(command.limit.into())
        .select(clients::id)
        .load(connection)?;
    let mut rows = 0;
    let read = |id: &StoredId| Row { table: "clients", key: id }.id("id", id);
    let asked: Vec<ClientId> = asked.iter().map(read).collect::<Result<_, _>>()?;
    for client in &asked {
        rows += u64::from(DeleteUnused { id: (*client).into() }.execute(connection)? == 1);
    }
    let is_full = u32::try_from(asked.len()).is_ok_and(|count| count == command.limit);
    let next = asked.last().filter(|_| is_full).copied();
    Ok(DocumentsForgotten { rows, next })
}

statement! {
    DeleteUnused {
        id: Id as Key,
    } = "\
        DELETE FROM clients WHERE id = :id AND resources = '' AND access_rule IS NULL AND released_groups = '' \
        AND NOT EXISTS (SELECT 1 FROM signed_consents WHERE client_id = :id) \
        AND NOT EXISTS (SELECT 1 FROM consents WHERE client_id = :id) \
        AND NOT EXISTS (SELECT 1 FROM grants WHERE client_id = :id)"
}
