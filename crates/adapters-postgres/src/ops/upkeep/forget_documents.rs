//! Clients that a document describes are deleted when they are no longer used.

use countersign_domain::id::ClientId;
use countersign_ports::{DocumentsForgotten, ForgetDocuments};
use countersign_sql::{Database, SqlError, Undone};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::statement::statement;

pub(crate) fn forget_documents(
    connection: &mut PgConnection,
    command: &ForgetDocuments,
) -> Result<DocumentsForgotten, SqlError> {
    let ForgetDocuments { before, after, limit } = *command;
    let before = before.time();
    // The nil UUID is the lowest, and no client has it.
    let after = after.map_or(Uuid::nil(), |after| after.as_uuid());
    connection.all_or_nothing(|connection| {
        let clients: Vec<Uuid> = LockClients { before, after, limit: limit.into() }.load(connection)?;
        let is_full = u32::try_from(clients.len()).is_ok_and(|count| count == limit);
        let next = clients.last().filter(|_| is_full).copied().map(ClientId::from_uuid);
        let rows = DeleteUnused { clients }.execute(connection)?;
        Ok::<_, Undone<DocumentsForgotten>>(DocumentsForgotten {
            rows: u64::try_from(rows).unwrap_or(u64::MAX),
            next,
        })
    })
}

statement! {
    /// Clients that are being changed are skipped until the next time. Found by the index
    /// `clients_described`.
    LockClients {
        before: OffsetDateTime as Timestamptz,
        after: Uuid as SqlUuid,
        limit: i64 as BigInt,
    } -> SqlUuid = "\
        SELECT id FROM clients WHERE document IS NOT NULL AND created_at < :before AND id > :after \
        ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED"
}

statement! {
    /// A statement of its own: it sees the grants of operations that stored the client again before it was
    /// locked.
    DeleteUnused { clients: Vec<Uuid> as Array<SqlUuid> } = "\
        DELETE FROM clients WHERE id = ANY(:clients) AND resources = '' \
        AND access_rule IS NULL AND released_groups = '' \
        AND NOT EXISTS (SELECT FROM signed_consents WHERE client_id = clients.id) \
        AND NOT EXISTS (SELECT FROM consents WHERE client_id = clients.id) \
        AND NOT EXISTS (SELECT FROM grants WHERE client_id = clients.id)"
}
