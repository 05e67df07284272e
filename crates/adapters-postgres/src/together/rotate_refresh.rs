//! Refresh tokens are replaced by the next ones of their families.

use countersign_ports::{RotateRefresh, Rotated};
use countersign_sql::rows::token::{NewToken, NewTokens};
use diesel::prelude::*;
use diesel::sql_types::{Array, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{column, where_stored};
use crate::batched::Batched;
use crate::error::OpResult;
use crate::ops::tokens::rotate_refresh::rotate_refresh;
use crate::statement::statement;

impl Batched for RotateRefresh {
    type Outcome = Rotated;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        [self.token.grant.as_uuid().as_u128()]
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Rotated>>> {
        let statement = StoreNextTokens {
            tokens: batch.iter().map(|command| NewToken::from(&command.token)).collect(),
            expected: column(batch, |command| command.expected_newest.as_uuid()),
            now: column(batch, |command| command.now),
            forget_grant_after: column(batch, |command| command.forget_after),
        };
        let stored: Vec<Uuid> = statement.load(connection)?;
        Ok(where_stored(batch, stored, |command| command.token.id.as_uuid(), Rotated::Stored))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Rotated> {
        rotate_refresh(connection, self)
    }
}

statement! {
    /// Returns the tokens that replaced the expected newest ones of their families. If an unused successor is
    /// replaced, its access token is revoked.
    StoreNextTokens<'a> {
        ..tokens: NewTokens<'a>,
        expected: Vec<Uuid> as Array<SqlUuid>,
        now: Vec<OffsetDateTime> as Array<Timestamptz>,
        forget_grant_after: Vec<OffsetDateTime> as Array<Timestamptz>,
    } -> SqlUuid = "\
        WITH asked AS MATERIALIZED ( \
          SELECT * FROM unnest(:tokens.values, :expected, :now, :forget_grant_after) \
          AS asked (:tokens.columns, expected, now, forget_grant_after) \
        ), good AS MATERIALIZED ( \
          SELECT asked.* FROM asked CROSS JOIN LATERAL ( \
            SELECT newest_token, revoked_at FROM grants WHERE id = grant_id OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED \
          ) AS held \
          WHERE newest_token = expected AND revoked_at IS NULL \
        ), rotated AS ( \
          UPDATE grants SET newest_token = good.id, \
            forget_after = GREATEST(grants.forget_after, good.forget_grant_after) \
          FROM good WHERE grants.id = good.grant_id \
          RETURNING good.* \
        ), replaced AS ( \
          UPDATE tokens SET access_revoked_at = rotated.now FROM rotated \
          WHERE tokens.id = rotated.expected AND access_revoked_at IS NULL \
            AND rotated.expected IS DISTINCT FROM rotated.parent_id \
        ) \
        INSERT INTO tokens (:tokens.columns) SELECT :tokens.columns FROM rotated RETURNING id"
}
