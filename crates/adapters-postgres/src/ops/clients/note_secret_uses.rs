//! The uses of secrets of clients are written down.

use countersign_ports::SecretUse;
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn note_secret_uses(connection: &mut PgConnection, uses: &[SecretUse]) -> OpResult<()> {
    let note = NoteUses {
        client: uses.iter().map(|used| used.client.as_uuid()).collect(),
        hash: uses.iter().map(|used| used.hash.as_bytes().as_slice()).collect(),
        used_at: uses.iter().map(|used| used.used_at).collect(),
    };
    note.execute(connection)?;
    Ok(())
}

statement! {
    /// The first secret of a client has no row before it is used. The lock keeps the client from being deleted
    /// in between; rotations and updates do not wait for it.
    NoteUses<'a> {
        client: Vec<Uuid> as Array<SqlUuid>,
        hash: Vec<&'a [u8]> as Array<Binary>,
        used_at: Vec<OffsetDateTime> as Array<Timestamptz>,
    } = "\
        WITH asked AS MATERIALIZED ( \
          SELECT client, hash, max(used_at) AS used_at \
          FROM unnest(:client, :hash, :used_at) AS asked (client, hash, used_at) GROUP BY client, hash \
        ), held AS MATERIALIZED ( \
          SELECT asked.client, asked.hash, asked.used_at, held.created_at, held.secret_hash, held.old_secret_hash \
          FROM asked CROSS JOIN LATERAL ( \
            SELECT created_at, secret_hash, old_secret_hash FROM clients WHERE clients.id = asked.client \
            OFFSET 0 FOR KEY SHARE \
          ) AS held \
        ) \
        INSERT INTO client_secrets (client_id, hash, created_at, last_used_at) \
        SELECT client, hash, created_at, used_at FROM held WHERE hash IN (secret_hash, old_secret_hash) \
        ORDER BY client, hash \
        ON CONFLICT (client_id, hash) DO UPDATE SET last_used_at = excluded.last_used_at \
        WHERE client_secrets.last_used_at IS NULL OR client_secrets.last_used_at < excluded.last_used_at"
}
