//! The uses of secrets of clients are written down.

use countersign_ports::SecretUse;
use countersign_sql::columns::{At, Binary, Id, Key, Moment};
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

pub(crate) fn note_secret_uses(
    connection: &mut SqliteConnection,
    uses: &[SecretUse],
) -> Result<(), SqliteError> {
    for SecretUse { client, hash, used_at } in uses {
        NoteUse { client: (*client).into(), hash: hash.as_bytes(), used_at: At(*used_at) }
            .execute(connection)?;
    }
    Ok(())
}

statement! {
    /// The first secret of a client has no row before it is used.
    NoteUse<'a> {
        client: Id as Key,
        hash: &'a [u8] as Binary,
        used_at: At as Moment,
    } = "\
        INSERT INTO client_secrets (client_id, hash, created_at, last_used_at) \
        SELECT id, :hash, created_at, :used_at FROM clients \
        WHERE id = :client AND :hash IN (secret_hash, old_secret_hash) \
        ON CONFLICT (client_id, hash) DO UPDATE SET last_used_at = excluded.last_used_at \
        WHERE client_secrets.last_used_at IS NULL OR client_secrets.last_used_at < excluded.last_used_at"
}
