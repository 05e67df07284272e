//! Clients that a document describes are deleted when they are no longer used.

use countersign_domain::id::ClientId;
use countersign_ports::{DocumentsForgotten, ForgetDocuments};
use uuid::Uuid;

use crate::columns::{At, BigInt, Id, Ids, Key, Keys, Moment, Row, StoredId};
use crate::database::{Statement, Undone};
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn forget_documents(
    db: &mut impl Database,
    command: &ForgetDocuments,
) -> Result<DocumentsForgotten, SqlError> {
    let ForgetDocuments { before, after, limit } = *command;
    // The nil UUID is the lowest, and no client has it.
    let after = after.map_or(Id(Uuid::nil()), Id::from);
    db.all_or_nothing(|db| {
        let asked: Vec<StoredId> =
            LockDescribed { before: At(before.time()), after, limit: limit.into() }.all(db)?;
        let read = |id: &StoredId| Row { table: "clients", key: id }.id("id", id);
        let asked: Vec<ClientId> = asked.iter().map(read).collect::<Result<_, _>>()?;
        let is_full = u32::try_from(asked.len()).is_ok_and(|count| count == limit);
        let next = asked.last().filter(|_| is_full).copied();
        let clients = Ids(asked.into_iter().map(|client| client.as_uuid()).collect());
        let rows = DeleteUnused { clients }.run(db)?;
        Ok::<_, Undone<DocumentsForgotten>>(DocumentsForgotten {
            rows: u64::try_from(rows).unwrap_or(u64::MAX),
            next,
        })
    })
}

statement! {
    /// Clients that others change are skipped until the next time. Found by the index `clients_described`.
    pub LockDescribed {
        before: At as Moment,
        after: Id as Key,
        limit: i64 as BigInt,
    } -> Key,
    sqlite = "\
        SELECT id FROM clients WHERE document IS NOT NULL AND created_at < :before AND id > :after \
        ORDER BY id LIMIT :limit",
    postgres = "\
        SELECT id FROM clients WHERE document IS NOT NULL AND created_at < :before AND id > :after \
        ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED"
}

statement! {
    /// A statement of its own: it sees the grants of operations that stored the client again before it was
    /// locked.
    pub DeleteUnused { clients: Ids as Keys },
    sqlite = "\
        DELETE FROM clients WHERE id IN (SELECT unhex(asked.value) FROM json_each(:clients) AS asked) \
        AND resources = '' \
        AND access_rule IS NULL AND released_groups = '' \
        AND NOT EXISTS (SELECT 1 FROM signed_consents WHERE client_id = clients.id) \
        AND NOT EXISTS (SELECT 1 FROM consents WHERE client_id = clients.id) \
        AND NOT EXISTS (SELECT 1 FROM grants WHERE client_id = clients.id)",
    postgres = "\
        DELETE FROM clients WHERE id = ANY(:clients) AND resources = '' \
        AND access_rule IS NULL AND released_groups = '' \
        AND NOT EXISTS (SELECT FROM signed_consents WHERE client_id = clients.id) \
        AND NOT EXISTS (SELECT FROM consents WHERE client_id = clients.id) \
        AND NOT EXISTS (SELECT FROM grants WHERE client_id = clients.id)"
}
