//! A client gets tokens for itself.

use countersign_ports::{IssueTokens, TokensIssued};
use countersign_sql::columns::Id;
use countersign_sql::rows::grant::{NewGrant, user_and_wallet};
use countersign_sql::rows::token::NewToken;
use countersign_sql::schema::{grants, tokens};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn issue_tokens(connection: &mut PgConnection, command: &IssueTokens) -> OpResult<TokensIssued> {
    let IssueTokens { grant, token, .. } = command;
    let (user, account) = user_and_wallet(grant);
    let statement = IssueFirstToken {
        grant: NewGrant::of_tokens(command, &account),
        token: token.into(),
        user: user.0,
        now: command.now,
    };
    if statement.execute(connection)? == 1 {
        return Ok(TokensIssued::Stored);
    }
    let (id, token) = (Id::from(grant.id), Id::from(token.id));
    let this_token = tokens::table.find(token).filter(tokens::grant_id.eq(id));
    let is_there: Option<bool> =
        grants::table.find(id).select(exists(this_token)).first(connection).optional()?;
    Ok(match is_there {
        Some(true) => TokensIssued::Stored,
        Some(false) => TokensIssued::IdTaken,
        None => TokensIssued::ClientUnknown,
    })
}

statement! {
    /// One row if the client exists and the id was free, none otherwise. The client is locked against
    /// deletion: a deletion waits, and then sees the grant.
    IssueFirstToken<'a> {
        ..grant: NewGrant<'a>,
        ..token: NewToken<'a>,
        user: Uuid as SqlUuid,
        now: OffsetDateTime as Timestamptz,
    } = "\
        WITH registered AS ( \
          SELECT id FROM clients WHERE id = :grant.client_id FOR KEY SHARE \
        ), granted AS ( \
          INSERT INTO grants (:grant.columns, review_at, user_id, redeemed_at, newest_token) \
          SELECT :grant.values, :grant.forget_after, :user, :now, :token.id FROM registered \
          ON CONFLICT (id) DO NOTHING \
          RETURNING id \
        ) \
        INSERT INTO tokens (:token.columns) SELECT :token.values FROM granted"
}
