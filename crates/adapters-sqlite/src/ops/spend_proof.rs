//! A proof of possession is used once.

use countersign_ports::SpendProof;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};

use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::schema::spent_proofs;
use crate::statement::statement;

/// Guard: the proof is not stored, or has expired. It is in the one insert. If it refuses, the stored proof
/// may still be this command's own, from an earlier attempt.
pub(crate) fn spend_proof(
    connection: &mut SqliteConnection,
    command: &SpendProof,
) -> Result<bool, SqliteError> {
    let attempt = command.attempt.as_bytes();
    let spend = Spend {
        digest: &command.digest,
        attempt,
        forget_after: micros(command.forget_after),
        before: micros(command.before),
    };
    if spend.execute(connection)? == 1 {
        return Ok(true);
    }
    let first: Option<Vec<u8>> = spent_proofs::table
        .find(command.digest.as_slice())
        .select(spent_proofs::attempt)
        .get_result(connection)
        .optional()?;
    Ok(first.is_some_and(|first| first == attempt))
}

statement! {
    Spend<'a> {
        digest: &'a [u8] as Binary,
        attempt: &'a [u8] as Binary,
        forget_after: i64 as BigInt,
        before: i64 as BigInt,
    } = "\
        INSERT INTO spent_proofs (digest, attempt, forget_after) VALUES (:digest, :attempt, :forget_after) \
        ON CONFLICT (digest) DO UPDATE SET attempt = excluded.attempt, forget_after = excluded.forget_after \
        WHERE spent_proofs.forget_after < :before"
}
