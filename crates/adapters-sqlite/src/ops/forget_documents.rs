//! Clients that a document describes are deleted when nobody uses them.

use countersign_domain::id::ClientId;
use countersign_ports::{DocumentsForgotten, ForgetDocuments};
use diesel::prelude::*;
use diesel::sql_types::Binary;

use crate::error::SqliteError;
use crate::rows::field::{Row, micros};
use crate::schema::clients;
use crate::statement::statement;

/// Finds them by the index `clients_described`.
pub(crate) fn forget_documents(
    connection: &mut SqliteConnection,
    command: &ForgetDocuments,
) -> Result<DocumentsForgotten, SqliteError> {
    let after = command.after.map(|after| after.as_uuid());
    let after = after.as_ref().map_or([].as_slice(), |after| after.as_bytes());
    let asked: Vec<Vec<u8>> = clients::table
        .filter(clients::document.is_not_null())
        .filter(clients::created_at.lt(micros(command.before)))
        .filter(clients::id.gt(after))
        .order(clients::id)
        .limit(command.limit.into())
        .select(clients::id)
        .load(connection)?;
    let mut rows = 0;
    for client in &asked {
        rows += u64::from(DeleteUnused { id: client }.execute(connection)? == 1);
    }
    let is_full = u32::try_from(asked.len()).is_ok_and(|count| count == command.limit);
    let last = asked.last().filter(|_| is_full);
    let next: Option<ClientId> = last.map(|id| Row { table: "clients", key: id }.id("id", id)).transpose()?;
    Ok(DocumentsForgotten { rows, next })
}

statement! {
    DeleteUnused<'a> {
        id: &'a [u8] as Binary,
    } = "\
        DELETE FROM clients WHERE id = :id AND resources = '' AND access_rule IS NULL AND released_groups = '' \
        AND NOT EXISTS (SELECT 1 FROM signed_consents WHERE client_id = :id) \
        AND NOT EXISTS (SELECT 1 FROM consents WHERE client_id = :id) \
        AND NOT EXISTS (SELECT 1 FROM grants WHERE client_id = :id)"
}
