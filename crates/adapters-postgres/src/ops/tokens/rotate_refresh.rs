//! A refresh token is replaced by the next one of its family.

use countersign_ports::{RotateRefresh, Rotated};
use countersign_sql::columns::Id;
use countersign_sql::rows::token::NewToken;
use countersign_sql::schema::{grants, tokens};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn rotate_refresh(connection: &mut PgConnection, command: &RotateRefresh) -> OpResult<Rotated> {
    let statement = StoreNextToken {
        token: (&command.token).into(),
        expected: command.expected_newest.as_uuid(),
        now: command.now,
        forget_grant_after: command.forget_after,
    };
    if statement.execute(connection)? == 1 {
        return Ok(Rotated::Stored);
    }
    why_not(connection, command)
}

fn why_not(connection: &mut PgConnection, command: &RotateRefresh) -> OpResult<Rotated> {
    let grant = Id::from(command.token.grant);
    let this_token = tokens::table.find(Id::from(command.token.id)).filter(tokens::grant_id.eq(grant));
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

statement! {
    /// One row if the family's newest token was the expected one, none otherwise. If an unused successor is
    /// replaced, its access token is revoked.
    StoreNextToken<'a> {
        ..token: NewToken<'a>,
        expected: Uuid as SqlUuid,
        now: OffsetDateTime as Timestamptz,
        forget_grant_after: OffsetDateTime as Timestamptz,
    } = "\
        WITH rotated AS ( \
          UPDATE grants SET newest_token = :token.id, forget_after = GREATEST(forget_after, :forget_grant_after) \
          WHERE id = :token.grant_id AND newest_token = :expected AND revoked_at IS NULL \
          RETURNING id \
        ), replaced AS ( \
          UPDATE tokens SET access_revoked_at = :now FROM rotated \
          WHERE tokens.id = :expected AND access_revoked_at IS NULL \
            AND :expected IS DISTINCT FROM :token.parent_id \
        ) \
        INSERT INTO tokens (:token.columns) SELECT :token.values FROM rotated"
}
