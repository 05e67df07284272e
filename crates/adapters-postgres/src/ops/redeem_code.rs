//! A code becomes the first token of its family.

use countersign_ports::{RedeemCode, Redeemed};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::schema::{grants, tokens};
use crate::statement::statement;

statement! {
    /// One row if the code was good, none otherwise.
    StoreFirstToken<'a> {
        id: Uuid as SqlUuid,
        grant: Uuid as SqlUuid,
        scope: String as Text,
        issued_at: OffsetDateTime as Timestamptz,
        access_hash: &'a [u8] as Binary,
        access_expires_at: OffsetDateTime as Timestamptz,
        refresh_hash: Option<&'a [u8]> as Nullable<Binary>,
        refresh_expires_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
        forget_token_after: OffsetDateTime as Timestamptz,
        now: OffsetDateTime as Timestamptz,
        forget_grant_after: OffsetDateTime as Timestamptz,
        bound_key: Option<&'a [u8]> as Nullable<Binary>,
    } = "\
        WITH redeemed AS ( \
          UPDATE grants SET redeemed_at = :now, newest_token = :id, forget_after = :forget_grant_after \
          WHERE id = :grant AND redeemed_at IS NULL AND revoked_at IS NULL \
          RETURNING id \
        ) \
        INSERT INTO tokens (id, grant_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, \
          refresh_expires_at, forget_after, bound_key) \
        SELECT :id, redeemed.id, :scope, :issued_at, :access_hash, :access_expires_at, :refresh_hash, \
          :refresh_expires_at, :forget_token_after, :bound_key \
        FROM redeemed"
}

pub(crate) fn redeem_code(connection: &mut PgConnection, command: &RedeemCode) -> OpResult<Redeemed> {
    let token = &command.token;
    let statement = StoreFirstToken {
        id: token.id.as_uuid(),
        grant: token.grant.as_uuid(),
        scope: token.scope.to_string(),
        issued_at: token.issued_at,
        access_hash: token.access_hash.as_bytes(),
        access_expires_at: token.access_expires_at,
        refresh_hash: token.refresh.as_ref().map(|refresh| refresh.hash.as_bytes().as_slice()),
        refresh_expires_at: token.refresh.as_ref().map(|refresh| refresh.expires_at),
        forget_token_after: token.forget_after(),
        now: command.now,
        forget_grant_after: command.forget_after,
        bound_key: token.key.as_ref().map(|key| key.as_bytes().as_slice()),
    };
    if statement.execute(connection)? == 1 {
        return Ok(Redeemed::Stored);
    }
    why_not(connection, command)
}

fn why_not(connection: &mut PgConnection, command: &RedeemCode) -> OpResult<Redeemed> {
    let grant = command.token.grant.as_uuid();
    let this_token = tokens::table.find(command.token.id.as_uuid()).filter(tokens::grant_id.eq(grant));
    let state: Option<(bool, bool)> = grants::table
        .find(grant)
        .select((exists(this_token), grants::redeemed_at.is_not_null()))
        .first(connection)
        .optional()?;
    Ok(match state {
        None => Redeemed::Unknown,
        Some((true, _)) => Redeemed::Stored,
        Some((false, true)) => Redeemed::Replayed,
        Some((false, false)) => Redeemed::Revoked,
    })
}
