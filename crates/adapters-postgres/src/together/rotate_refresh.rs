//! Refresh tokens are replaced by the next ones.

use countersign_ports::{RotateRefresh, Rotated};
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::tokens::TokenColumns;
use super::{column, where_stored};
use crate::batch::Batched;
use crate::error::OpResult;
use crate::ops::rotate_refresh::rotate_refresh;
use crate::statement::statement;

statement! {
    /// Gives the tokens whose families' newest ones were the expected ones. An unused successor that is replaced loses its
    /// access token.
    StoreNextTokens<'a> {
        id: Vec<Uuid> as Array<SqlUuid>,
        grant: Vec<Uuid> as Array<SqlUuid>,
        parent: Vec<Option<Uuid>> as Array<Nullable<SqlUuid>>,
        expected: Vec<Uuid> as Array<SqlUuid>,
        scope: Vec<String> as Array<Text>,
        issued_at: Vec<OffsetDateTime> as Array<Timestamptz>,
        access_hash: Vec<&'a [u8]> as Array<Binary>,
        access_expires_at: Vec<OffsetDateTime> as Array<Timestamptz>,
        refresh_hash: Vec<Option<&'a [u8]>> as Array<Nullable<Binary>>,
        refresh_expires_at: Vec<Option<OffsetDateTime>> as Array<Nullable<Timestamptz>>,
        forget_token_after: Vec<OffsetDateTime> as Array<Timestamptz>,
        now: Vec<OffsetDateTime> as Array<Timestamptz>,
        forget_grant_after: Vec<OffsetDateTime> as Array<Timestamptz>,
        bound_key: Vec<Option<&'a [u8]>> as Array<Nullable<Binary>>,
    } -> (SqlUuid) = "\
        WITH asked AS MATERIALIZED ( \
          SELECT * FROM unnest(:id, :grant, :parent, :expected, :scope, :issued_at, :access_hash, \
            :access_expires_at, :refresh_hash, :refresh_expires_at, :forget_token_after, :now, :forget_grant_after, \
            :bound_key) \
          AS asked (id, grant_id, parent_id, expected, scope, issued_at, access_hash, access_expires_at, \
            refresh_hash, refresh_expires_at, forget_token_after, now, forget_grant_after, bound_key) \
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
        INSERT INTO tokens (id, grant_id, parent_id, scope, issued_at, access_hash, access_expires_at, \
          refresh_hash, refresh_expires_at, forget_after, bound_key) \
        SELECT id, grant_id, parent_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, \
          refresh_expires_at, forget_token_after, bound_key \
        FROM rotated \
        RETURNING id"
}

impl Batched for RotateRefresh {
    type Outcome = Rotated;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        [self.token.grant.as_uuid().as_u128()]
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Rotated>>> {
        let tokens = TokenColumns::of(batch, |command| &command.token);
        let statement = StoreNextTokens {
            id: tokens.id,
            grant: tokens.grant,
            parent: column(batch, |command| command.token.parent.map(|parent| parent.as_uuid())),
            expected: column(batch, |command| command.expected_newest.as_uuid()),
            scope: tokens.scope,
            issued_at: tokens.issued_at,
            access_hash: tokens.access_hash,
            access_expires_at: tokens.access_expires_at,
            refresh_hash: tokens.refresh_hash,
            refresh_expires_at: tokens.refresh_expires_at,
            forget_token_after: tokens.forget_after,
            now: column(batch, |command| command.now),
            forget_grant_after: column(batch, |command| command.forget_after),
            bound_key: tokens.bound_key,
        };
        let stored: Vec<(Uuid,)> = statement.load(connection)?;
        Ok(where_stored(batch, stored, |command| command.token.id.as_uuid(), Rotated::Stored))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Rotated> {
        rotate_refresh(connection, self)
    }
}
