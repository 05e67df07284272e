//! A client gets tokens for itself.

use countersign_ports::{IssueTokens, TokensIssued};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};

use super::tokens;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::rows::grant::{NewGrant, user_and_wallet};
use crate::schema::grants;
use crate::statement::statement;

/// Guards: the client exists, and no grant has this id. Both are in the one insert.
pub(crate) fn issue_tokens(
    connection: &mut SqliteConnection,
    command: &IssueTokens,
) -> Result<TokensIssued, SqliteError> {
    let IssueTokens { grant, token, .. } = command;
    let (id, newest) = (grant.id.as_uuid(), token.id.as_uuid());
    let (user, account) = user_and_wallet(grant);
    let insert = InsertRedeemedGrant {
        grant: NewGrant::of_tokens(command, &account),
        user_id: user.as_bytes(),
        redeemed_at: micros(command.now),
        newest_token: newest.as_bytes(),
    };
    if insert.execute(connection)? == 1 {
        tokens::insert(connection, token)?;
        return Ok(TokensIssued::Stored);
    }
    if tokens::is_stored(connection, token)? {
        return Ok(TokensIssued::Stored);
    }
    let this_grant = grants::table.find(id.as_bytes().as_slice());
    let is_taken: bool = diesel::select(exists(this_grant)).get_result(connection)?;
    Ok(if is_taken { TokensIssued::IdTaken } else { TokensIssued::ClientUnknown })
}

statement! {
    InsertRedeemedGrant<'a> {
        ..grant: NewGrant<'a>,
        user_id: &'a [u8] as Binary,
        redeemed_at: i64 as BigInt,
        newest_token: &'a [u8] as Binary,
    } = "\
        INSERT INTO grants (:grant.columns, review_at, user_id, redeemed_at, newest_token) \
        SELECT :grant.values, :grant.forget_after, :user_id, :redeemed_at, :newest_token \
        FROM clients WHERE clients.id = :grant.client_id \
        ON CONFLICT (id) DO NOTHING"
}
