//! Codes are exchanged for the first tokens of their families.

use countersign_ports::{RedeemCode, Redeemed};
use countersign_sql::rows::token::{NewToken, NewTokens};
use diesel::prelude::*;
use diesel::sql_types::{Array, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{column, where_stored};
use crate::batched::Batched;
use crate::error::OpResult;
use crate::ops::tokens::redeem_code::redeem_code;
use crate::statement::statement;

impl Batched for RedeemCode {
    type Outcome = Redeemed;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        [self.token.grant.as_uuid().as_u128()]
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Redeemed>>> {
        let statement = StoreFirstTokens {
            tokens: batch.iter().map(|command| NewToken::from(&command.token)).collect(),
            now: column(batch, |command| command.now),
            forget_grant_after: column(batch, |command| command.forget_after),
        };
        let stored: Vec<Uuid> = statement.load(connection)?;
        Ok(where_stored(batch, stored, |command| command.token.id.as_uuid(), Redeemed::Stored))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Redeemed> {
        redeem_code(connection, self)
    }
}

statement! {
    /// Returns the tokens whose codes were good.
    StoreFirstTokens<'a> {
        ..tokens: NewTokens<'a>,
        now: Vec<OffsetDateTime> as Array<Timestamptz>,
        forget_grant_after: Vec<OffsetDateTime> as Array<Timestamptz>,
    } -> SqlUuid = "\
        WITH asked AS MATERIALIZED ( \
          SELECT * FROM unnest(:tokens.values, :now, :forget_grant_after) \
          AS asked (:tokens.columns, now, forget_grant_after) \
        ), good AS MATERIALIZED ( \
          SELECT asked.* FROM asked CROSS JOIN LATERAL ( \
            SELECT redeemed_at, revoked_at FROM grants WHERE id = grant_id OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED \
          ) AS held \
          WHERE redeemed_at IS NULL AND revoked_at IS NULL \
        ), redeemed AS ( \
          UPDATE grants SET redeemed_at = good.now, newest_token = good.id, forget_after = good.forget_grant_after \
          FROM good WHERE grants.id = good.grant_id \
          RETURNING good.* \
        ) \
        INSERT INTO tokens (:tokens.columns) SELECT :tokens.columns FROM redeemed RETURNING id"
}
