//! A proof of possession is used once.

use countersign_ports::SpendProof;
use countersign_sql::columns::{At, Binary, Id, Key, Moment, StoredId};
use countersign_sql::schema::spent_proofs;
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// Guard: the proof is not stored, or has expired. It is in the one insert. If it refuses, the stored proof
/// may still be this command's own, from an earlier attempt.
pub(crate) fn spend_proof(
    connection: &mut SqliteConnection,
    command: &SpendProof,
) -> Result<bool, SqliteError> {
    let attempt = Id(command.attempt);
    let spend = Spend {
        digest: &command.digest,
        attempt,
        forget_after: At(command.forget_after),
        before: At(command.before),
    };
    if spend.execute(connection)? == 1 {
        return Ok(true);
    }
    let first: Option<StoredId> = spent_proofs::table
        .find(command.digest.as_slice())
        .select(spent_proofs::attempt)
        .get_result(connection)
        .optional()?;
    Ok(first == Some(attempt.into()))
}

statement! {
    Spend<'a> {
        digest: &'a [u8] as Binary,
        attempt: Id as Key,
        forget_after: At as Moment,
        before: At as Moment,
    } = "\
        INSERT INTO spent_proofs (digest, attempt, forget_after) VALUES (:digest, :attempt, :forget_after) \
        ON CONFLICT (digest) DO UPDATE SET attempt = excluded.attempt, forget_after = excluded.forget_after \
        WHERE spent_proofs.forget_after < :before"
}
