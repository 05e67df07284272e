//! Secrets of clients are rotated, and their uses written down.

use countersign_domain::id::ClientId;
use countersign_ports::{RotateSecret, SecretRecord, SecretUse};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable};

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::field::{Row, micros};
use crate::statement::statement;

/// The uses that one command writes down.
#[derive(Debug)]
pub(crate) struct NoteSecretUses(pub(crate) Vec<SecretUse>);

/// Guard: the replaced secret is the current one. A repeated command is recognized by the new secret. Returns
/// whether the client has the new secret.
pub(crate) fn rotate_secret(
    connection: &mut SqliteConnection,
    command: &RotateSecret,
) -> Result<bool, SqliteError> {
    let client = command.client.as_uuid();
    let client = client.as_bytes().as_slice();
    let (replaced, hash) = (command.replaced.as_bytes().as_slice(), command.hash.as_bytes().as_slice());
    let old = command.keep_old_until.map(|_| replaced);
    let expires_at = command.keep_old_until.map(micros);
    let replace = ReplaceSecret { client, replaced, hash, old, expires_at };
    if replace.execute(connection)? == 0 {
        return Ok(false);
    }
    ForgetSecrets { client, hash, old: old.unwrap_or(hash) }.execute(connection)?;
    let is_first = RecordSecret { client, hash, created_at: micros(command.now) }.execute(connection)? == 1;
    if is_first {
        record(connection, command.event.as_deref())?;
    }
    Ok(true)
}

pub(crate) fn note_secret_uses(
    connection: &mut SqliteConnection,
    NoteSecretUses(uses): &NoteSecretUses,
) -> Result<(), SqliteError> {
    for SecretUse { client, hash, used_at } in uses {
        let client = client.as_uuid();
        let (client, hash) = (client.as_bytes().as_slice(), hash.as_bytes().as_slice());
        NoteUse { client, hash, used_at: micros(*used_at) }.execute(connection)?;
    }
    Ok(())
}

pub(crate) fn secrets_of(
    connection: &mut SqliteConnection,
    client: ClientId,
) -> Result<Vec<SecretRecord>, SqliteError> {
    let client = client.as_uuid();
    let client = client.as_bytes().as_slice();
    let at = Row { table: "client_secrets", key: client };
    let time = |column, micros: Option<i64>| micros.map(|micros| at.time(column, micros)).transpose();
    let rows: Vec<(Option<i64>, Option<i64>, Option<i64>)> = SecretsOf { client }.load(connection)?;
    rows.into_iter()
        .map(|(created_at, expires_at, last_used_at)| {
            Ok(SecretRecord {
                created_at: time("created_at", created_at)?,
                expires_at: time("old_secret_expires_at", expires_at)?,
                last_used_at: time("last_used_at", last_used_at)?,
            })
        })
        .collect()
}

statement! {
    ReplaceSecret<'a> {
        client: &'a [u8] as Binary,
        replaced: &'a [u8] as Binary,
        hash: &'a [u8] as Binary,
        old: Option<&'a [u8]> as Nullable<Binary>,
        expires_at: Option<i64> as Nullable<BigInt>,
    } = "\
        UPDATE clients SET secret_hash = :hash, old_secret_hash = :old, old_secret_expires_at = :expires_at \
        WHERE id = :client AND secret_hash IN (:replaced, :hash)"
}

statement! {
    /// What is known about secrets that the client no longer has.
    ForgetSecrets<'a> {
        client: &'a [u8] as Binary,
        hash: &'a [u8] as Binary,
        old: &'a [u8] as Binary,
    } = "\
        DELETE FROM client_secrets WHERE client_id = :client AND hash NOT IN (:hash, :old)"
}

statement! {
    /// One row, or none if the command is repeated.
    RecordSecret<'a> {
        client: &'a [u8] as Binary,
        hash: &'a [u8] as Binary,
        created_at: i64 as BigInt,
    } = "\
        INSERT INTO client_secrets (client_id, hash, created_at) VALUES (:client, :hash, :created_at) \
        ON CONFLICT (client_id, hash) DO NOTHING"
}

statement! {
    /// The first secret of a client has no row before it is used.
    NoteUse<'a> {
        client: &'a [u8] as Binary,
        hash: &'a [u8] as Binary,
        used_at: i64 as BigInt,
    } = "\
        INSERT INTO client_secrets (client_id, hash, created_at, last_used_at) \
        SELECT id, :hash, created_at, :used_at FROM clients \
        WHERE id = :client AND :hash IN (secret_hash, old_secret_hash) \
        ON CONFLICT (client_id, hash) DO UPDATE SET last_used_at = excluded.last_used_at \
        WHERE client_secrets.last_used_at IS NULL OR client_secrets.last_used_at < excluded.last_used_at"
}

statement! {
    /// The first secret of a client was made with the client. The current secret comes first: it has no end.
    SecretsOf<'a> {
        client: &'a [u8] as Binary,
    } -> (Nullable<BigInt>, Nullable<BigInt>, Nullable<BigInt>) = "\
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
