//! Proofs of possession are used once.

use std::collections::HashSet;

use countersign_ports::SpendProof;
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::column;
use crate::batched::Batched;
use crate::error::OpResult;
use crate::ops::sign_in::spend_proof::spend_proof;
use crate::statement::statement;

impl Batched for SpendProof {
    type Outcome = bool;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        self.digest.first_chunk().map(|first| u128::from_be_bytes(*first))
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<bool>>> {
        let statement = SpendAll {
            digest: column(batch, |command| command.digest.as_slice()),
            attempt: column(batch, |command| command.attempt),
            forget_after: column(batch, |command| command.forget_after),
        };
        let spent: HashSet<Vec<u8>> = statement.load(connection)?.into_iter().collect();
        Ok(column(batch, |command| spent.contains(command.digest.as_slice()).then_some(true)))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<bool> {
        spend_proof(connection, self)
    }
}

statement! {
    /// Returns the proofs that were not stored before. A stored one that has expired is left alone.
    SpendAll<'a> {
        digest: Vec<&'a [u8]> as Array<Binary>,
        attempt: Vec<Uuid> as Array<SqlUuid>,
        forget_after: Vec<OffsetDateTime> as Array<Timestamptz>,
    } -> Binary = "\
        INSERT INTO spent_proofs (digest, attempt, forget_after) \
        SELECT digest, attempt, forget_after FROM unnest(:digest, :attempt, :forget_after) \
        AS asked (digest, attempt, forget_after) \
        ORDER BY digest \
        ON CONFLICT (digest) DO NOTHING \
        RETURNING digest"
}
