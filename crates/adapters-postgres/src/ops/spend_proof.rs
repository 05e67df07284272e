//! A proof that is good once.

use countersign_ports::SpendProof;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

statement! {
    /// One row if the proof is not remembered, or only past its time; none otherwise. Waits for whoever else is spending it.
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
    /// Did this request spend it?
    SpentBy<'a> { digest: &'a [u8] as Binary, attempt: Uuid as SqlUuid } -> (Bool) = "\
        SELECT EXISTS (SELECT FROM spent_proofs WHERE digest = :digest AND attempt = :attempt)"
}

pub(crate) fn spend_proof(connection: &mut PgConnection, command: &SpendProof) -> OpResult<bool> {
    let (digest, attempt) = (&command.digest, command.attempt);
    let spend = Spend { digest, attempt, forget_after: command.forget_after, before: command.before };
    if spend.execute(connection)? == 1 {
        return Ok(true);
    }
    let (is_ours,): (bool,) = SpentBy { digest, attempt }.get_result(connection)?;
    Ok(is_ours)
}
