//! Secrets of clients are rotated and listed. Their uses are written down by the adapters.

use countersign_domain::id::ClientId;
use countersign_ports::{RotateSecret, SecretRecord};

use crate::columns::{At, Binary, Bool, Id, Key, Moment, Nullable, Row, StoredTime};
use crate::database::Statement;
use crate::ops::events::record_event::record;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Guard: the replaced secret is the current one. A repeated command is recognized by the new secret. Returns
/// whether the client has the new secret.
pub fn rotate_secret(db: &mut impl Database, command: &RotateSecret) -> Result<bool, SqlError> {
    let client = Id::from(command.client);
    let (replaced, hash) = (command.replaced.as_bytes().as_slice(), command.hash.as_bytes().as_slice());
    let expires_at = command.keep_old_until.map(At);
    let old = expires_at.map(|_| replaced);
    db.all_or_nothing(|db| {
        if (ReplaceSecret { client, replaced, hash, old, expires_at }).run(db)? == 0 {
            return Ok(HasSecret { client, hash }.one(db)?);
        }
        ForgetSecrets { client, hash, old: old.unwrap_or(hash) }.run(db)?;
        // An operator may go back to the secret before, which has its row.
        RecordSecret { client, hash, created_at: At(command.now) }.run(db)?;
        record(db, command.event.as_deref())?;
        Ok(true)
    })
}

pub fn secrets_of(db: &mut impl Database, client: ClientId) -> Result<Vec<SecretRecord>, SqlError> {
    type Times = (Option<StoredTime>, Option<StoredTime>, Option<StoredTime>);
    let at = Row { table: "client_secrets", key: &client };
    let rows: Vec<Times> = SecretsOf { client: client.into() }.all(db)?;
    rows.into_iter()
        .map(|(created_at, expires_at, last_used_at)| {
            Ok(SecretRecord {
                created_at: at.optional_time("created_at", created_at)?,
                expires_at: at.optional_time("old_secret_expires_at", expires_at)?,
                last_used_at: at.optional_time("last_used_at", last_used_at)?,
            })
        })
        .collect()
}

statement! {
    ReplaceSecret<'a> {
        client: Id as Key,
        replaced: &'a [u8] as Binary,
        hash: &'a [u8] as Binary,
        old: Option<&'a [u8]> as Nullable<Binary>,
        expires_at: Option<At> as Nullable<Moment>,
    } = "\
        UPDATE clients SET secret_hash = :hash, old_secret_hash = :old, old_secret_expires_at = :expires_at \
        WHERE id = :client AND secret_hash = :replaced AND secret_hash <> :hash"
}

statement! {
    HasSecret<'a> { client: Id as Key, hash: &'a [u8] as Binary } -> Bool = "\
        SELECT EXISTS (SELECT 1 FROM clients WHERE id = :client AND secret_hash = :hash)"
}

statement! {
    /// What is known about secrets that the client no longer has. Locked in the order in which uses are noted.
    ForgetSecrets<'a> { client: Id as Key, hash: &'a [u8] as Binary, old: &'a [u8] as Binary },
    sqlite = "\
        DELETE FROM client_secrets WHERE client_id = :client AND hash NOT IN (:hash, :old)",
    postgres = "\
        WITH ended AS MATERIALIZED ( \
          SELECT hash FROM client_secrets WHERE client_id = :client AND hash NOT IN (:hash, :old) \
          ORDER BY hash FOR UPDATE \
        ) \
        DELETE FROM client_secrets USING ended \
        WHERE client_id = :client AND client_secrets.hash = ended.hash"
}

statement! {
    /// One row, or none if the client had this secret before.
    RecordSecret<'a> { client: Id as Key, hash: &'a [u8] as Binary, created_at: At as Moment } = "\
        INSERT INTO client_secrets (client_id, hash, created_at) VALUES (:client, :hash, :created_at) \
        ON CONFLICT (client_id, hash) DO NOTHING"
}

statement! {
    /// The first secret of a client was made with the client. The current secret comes first: it has no end.
    SecretsOf { client: Id as Key } -> (Nullable<Moment>, Nullable<Moment>, Nullable<Moment>) = "\
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
