//! Secrets of clients are rotated, and their uses written down.

use countersign_domain::id::ClientId;
use countersign_ports::{RotateSecret, SecretRecord, SecretUse};
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Nullable, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::record_event::record;
use super::transaction::all_or_nothing;
use crate::error::OpResult;
use crate::statement::statement;

/// Guard: the replaced secret is the current one. A repeated command is recognized by the new secret. Returns
/// whether the client has the new secret.
pub(crate) fn rotate_secret(connection: &mut PgConnection, command: &RotateSecret) -> OpResult<bool> {
    let client = command.client.as_uuid();
    let (replaced, hash) = (command.replaced.as_bytes().as_slice(), command.hash.as_bytes().as_slice());
    let expires_at = command.keep_old_until;
    let old = expires_at.map(|_| replaced);
    all_or_nothing(connection, |connection| {
        let replace = ReplaceSecret { client, replaced, hash, old, expires_at };
        if replace.execute(connection)? == 0 {
            return Ok(false);
        }
        ForgetSecrets { client, hash, old: old.unwrap_or(hash) }.execute(connection)?;
        // A repeat finds the row of its secret.
        if (RecordSecret { client, hash, created_at: command.now }).execute(connection)? == 1 {
            record(connection, command.event.as_deref())?;
        }
        Ok(true)
    })
}

pub(crate) fn note_secret_uses(connection: &mut PgConnection, uses: &[SecretUse]) -> OpResult<()> {
    let note = NoteUses {
        client: uses.iter().map(|used| used.client.as_uuid()).collect(),
        hash: uses.iter().map(|used| used.hash.as_bytes().as_slice()).collect(),
        used_at: uses.iter().map(|used| used.used_at).collect(),
    };
    note.execute(connection)?;
    Ok(())
}

pub(crate) fn secrets_of(connection: &mut PgConnection, client: ClientId) -> OpResult<Vec<SecretRecord>> {
    type Times = (Option<OffsetDateTime>, Option<OffsetDateTime>, Option<OffsetDateTime>);
    let rows: Vec<Times> = SecretsOf { client: client.as_uuid() }.load(connection)?;
    let secrets = rows.into_iter().map(|(created_at, expires_at, last_used_at)| SecretRecord {
        created_at,
        expires_at,
        last_used_at,
    });
    Ok(secrets.collect())
}

statement! {
    ReplaceSecret<'a> {
        client: Uuid as SqlUuid,
        replaced: &'a [u8] as Binary,
        hash: &'a [u8] as Binary,
        old: Option<&'a [u8]> as Nullable<Binary>,
        expires_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
    } = "\
        UPDATE clients SET secret_hash = :hash, old_secret_hash = :old, old_secret_expires_at = :expires_at \
        WHERE id = :client AND secret_hash IN (:replaced, :hash)"
}

statement! {
    /// What is known about secrets that the client no longer has. Locked in the order of [`NoteUses`].
    ForgetSecrets<'a> {
        client: Uuid as SqlUuid,
        hash: &'a [u8] as Binary,
        old: &'a [u8] as Binary,
    } = "\
        WITH ended AS MATERIALIZED ( \
          SELECT hash FROM client_secrets WHERE client_id = :client AND hash NOT IN (:hash, :old) \
          ORDER BY hash FOR UPDATE \
        ) \
        DELETE FROM client_secrets USING ended \
        WHERE client_id = :client AND client_secrets.hash = ended.hash"
}

statement! {
    RecordSecret<'a> {
        client: Uuid as SqlUuid,
        hash: &'a [u8] as Binary,
        created_at: OffsetDateTime as Timestamptz,
    } = "\
        INSERT INTO client_secrets (client_id, hash, created_at) VALUES (:client, :hash, :created_at) \
        ON CONFLICT (client_id, hash) DO NOTHING"
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

statement! {
    /// The first secret of a client was made with the client. The current secret comes first: it has no end.
    SecretsOf {
        client: Uuid as SqlUuid,
    } -> (Nullable<Timestamptz>, Nullable<Timestamptz>, Nullable<Timestamptz>) = "\
        SELECT CASE WHEN known.hash IS NULL THEN clients.created_at ELSE known.created_at END AS created_at, \
          NULL AS expires_at, known.last_used_at AS last_used_at \
        FROM clients LEFT JOIN client_secrets known \
          ON known.client_id = clients.id AND known.hash = clients.secret_hash \
        WHERE clients.id = :client AND clients.secret_hash IS NOT NULL \
        UNION ALL \
        SELECT CASE WHEN known.hash IS NULL THEN clients.created_at ELSE known.created_at END, \
          clients.old_secret_expires_at, known.last_used_at \
        FROM clients LEFT JOIN client_secrets known \
          ON known.client_id = clients.id AND known.hash = clients.old_secret_hash \
        WHERE clients.id = :client AND clients.old_secret_hash IS NOT NULL \
        ORDER BY expires_at NULLS FIRST"
}
