//! A code is exchanged for its family's first tokens.

use countersign_ports::{RedeemCode, Redeemed};
use countersign_sql::columns::Id;
use countersign_sql::rows::token::NewToken;
use countersign_sql::schema::{grants, tokens};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::Timestamptz;
use time::OffsetDateTime;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn redeem_code(connection: &mut PgConnection, command: &RedeemCode) -> OpResult<Redeemed> {
    let statement = StoreFirstToken {
        token: (&command.token).into(),
        now: command.now,
        forget_grant_after: command.forget_after,
    };
    if statement.execute(connection)? == 1 {
        return Ok(Redeemed::Stored);
    }
    why_not(connection, command)
}

fn why_not(connection: &mut PgConnection, command: &RedeemCode) -> OpResult<Redeemed> {
    let grant = Id::from(command.token.grant);
    let this_token = tokens::table.find(Id::from(command.token.id)).filter(tokens::grant_id.eq(grant));
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

statement! {
    /// One row if the code was good, none otherwise.
    StoreFirstToken<'a> {
        ..token: NewToken<'a>,
        now: OffsetDateTime as Timestamptz,
        forget_grant_after: OffsetDateTime as Timestamptz,
    } = "\
        WITH redeemed AS ( \
          UPDATE grants SET redeemed_at = :now, newest_token = :token.id, forget_after = :forget_grant_after \
          WHERE id = :token.grant_id AND redeemed_at IS NULL AND revoked_at IS NULL \
          RETURNING id \
        ) \
        INSERT INTO tokens (:token.columns) SELECT :token.values FROM redeemed"
}
