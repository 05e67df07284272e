//! A proof of possession is used once.

use countersign_ports::SpendProof;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn spend_proof(connection: &mut PgConnection, command: &SpendProof) -> OpResult<bool> {
    let (digest, attempt) = (&command.digest, command.attempt);
    let spend = Spend { digest, attempt, forget_after: command.forget_after, before: command.before };
    if spend.execute(connection)? == 1 {
        return Ok(true);
    }
    Ok(SpentBy { digest, attempt }.get_result(connection)?)
}

statement! {
    /// One row if the proof is not stored or has expired, none otherwise. Waits for anybody else who is using
    /// it.
    Spend<'a> {
        digest: &'a [u8] as Binary,
        attempt: Uuid as SqlUuid,
        forget_after: OffsetDateTime as Timestamptz,
        before: OffsetDateTime as Timestamptz,
    } = "\
        INSERT INTO spent_proofs (digest, attempt, forget_after) VALUES (:digest, :attempt, :forget_after) \
        ON CONFLICT (digest) DO UPDATE SET attempt = excluded.attempt, forget_after = excluded.forget_after \
        WHERE spent_proofs.forget_after < :before"
}

statement! {
    /// Did this command use the proof before?
    SpentBy<'a> { digest: &'a [u8] as Binary, attempt: Uuid as SqlUuid } -> Bool = "\
        SELECT EXISTS (SELECT FROM spent_proofs WHERE digest = :digest AND attempt = :attempt)"
}
