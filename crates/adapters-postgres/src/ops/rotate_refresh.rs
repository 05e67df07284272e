//! A refresh token is replaced by the next one.

use countersign_ports::{RotateRefresh, Rotated};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::schema::{grants, tokens};
use crate::statement::statement;

statement! {
    /// One row if the family's newest token was the expected one, none otherwise. An unused successor that is replaced
    /// loses its access token.
    StoreNextToken<'a> {
        id: Uuid as SqlUuid,
        grant: Uuid as SqlUuid,
        parent: Option<Uuid> as Nullable<SqlUuid>,
        expected: Uuid as SqlUuid,
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
        WITH rotated AS ( \
          UPDATE grants SET newest_token = :id, forget_after = GREATEST(forget_after, :forget_grant_after) \
          WHERE id = :grant AND newest_token = :expected AND revoked_at IS NULL \
          RETURNING id \
        ), replaced AS ( \
          UPDATE tokens SET access_revoked_at = :now FROM rotated \
          WHERE tokens.id = :expected AND access_revoked_at IS NULL AND :expected IS DISTINCT FROM :parent \
        ) \
        INSERT INTO tokens (id, grant_id, parent_id, scope, issued_at, access_hash, access_expires_at, \
          refresh_hash, refresh_expires_at, forget_after, bound_key) \
        SELECT :id, rotated.id, :parent, :scope, :issued_at, :access_hash, :access_expires_at, \
          :refresh_hash, :refresh_expires_at, :forget_token_after, :bound_key \
        FROM rotated"
}

pub(crate) fn rotate_refresh(connection: &mut PgConnection, command: &RotateRefresh) -> OpResult<Rotated> {
    let token = &command.token;
    let statement = StoreNextToken {
        id: token.id.as_uuid(),
        grant: token.grant.as_uuid(),
        parent: token.parent.map(|parent| parent.as_uuid()),
        expected: command.expected_newest.as_uuid(),
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
        return Ok(Rotated::Stored);
    }
    why_not(connection, command)
}

fn why_not(connection: &mut PgConnection, command: &RotateRefresh) -> OpResult<Rotated> {
    let grant = command.token.grant.as_uuid();
    let this_token = tokens::table.find(command.token.id.as_uuid()).filter(tokens::grant_id.eq(grant));
    let state: Option<(bool, bool)> = grants::table
        .find(grant)
        .select((exists(this_token), grants::revoked_at.is_not_null()))
        .first(connection)
        .optional()?;
    Ok(match state {
        None => Rotated::Unknown,
        Some((true, _)) => Rotated::Stored,
        Some((false, true)) => Rotated::Revoked,
        Some((false, false)) => Rotated::Reused,
    })
}
