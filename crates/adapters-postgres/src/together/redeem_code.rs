//! Codes become the first tokens of their families.

use countersign_ports::{RedeemCode, Redeemed};
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::tokens::TokenColumns;
use super::{column, where_stored};
use crate::batch::Batched;
use crate::error::OpResult;
use crate::ops::redeem_code::redeem_code;
use crate::statement::statement;

statement! {
    /// Gives the tokens whose codes were good.
    StoreFirstTokens<'a> {
        id: Vec<Uuid> as Array<SqlUuid>,
        grant: Vec<Uuid> as Array<SqlUuid>,
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
          SELECT * FROM unnest(:id, :grant, :scope, :issued_at, :access_hash, :access_expires_at, :refresh_hash, \
            :refresh_expires_at, :forget_token_after, :now, :forget_grant_after, :bound_key) \
          AS asked (id, grant_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, \
            refresh_expires_at, forget_token_after, now, forget_grant_after, bound_key) \
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
        INSERT INTO tokens (id, grant_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, \
          refresh_expires_at, forget_after, bound_key) \
        SELECT id, grant_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, refresh_expires_at, \
          forget_token_after, bound_key \
        FROM redeemed \
        RETURNING id"
}

impl Batched for RedeemCode {
    type Outcome = Redeemed;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        [self.token.grant.as_uuid().as_u128()]
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Redeemed>>> {
        let tokens = TokenColumns::of(batch, |command| &command.token);
        let statement = StoreFirstTokens {
            id: tokens.id,
            grant: tokens.grant,
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
        Ok(where_stored(batch, stored, |command| command.token.id.as_uuid(), Redeemed::Stored))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Redeemed> {
        redeem_code(connection, self)
    }
}
