//! A client gets tokens for itself.

use countersign_ports::{IssueTokens, TokensIssued};
use countersign_sql::columns::{At, Id, Key, Moment};
use countersign_sql::rows::grant::{NewGrant, user_and_wallet};
use countersign_sql::schema::grants;
use diesel::dsl::exists;
use diesel::prelude::*;

use super::store_token;
use crate::error::SqliteError;
use crate::statement::statement;

/// Guards: the client exists, and no grant has this id. Both are in the one insert.
pub(crate) fn issue_tokens(
    connection: &mut SqliteConnection,
    command: &IssueTokens,
) -> Result<TokensIssued, SqliteError> {
    let IssueTokens { grant, token, .. } = command;
    let (id, newest) = (Id::from(grant.id), Id::from(token.id));
    let (user, account) = user_and_wallet(grant);
    let insert = InsertRedeemedGrant {
        grant: NewGrant::of_tokens(command, &account),
        user_id: user,
        redeemed_at: At(command.now),
        newest_token: newest,
    };
    if insert.execute(connection)? == 1 {
        store_token::insert(connection, token)?;
        return Ok(TokensIssued::Stored);
    }
    if store_token::is_stored(connection, token)? {
        return Ok(TokensIssued::Stored);
    }
    let this_grant = grants::table.find(id);
    let is_taken: bool = diesel::select(exists(this_grant)).get_result(connection)?;
    Ok(if is_taken { TokensIssued::IdTaken } else { TokensIssued::ClientUnknown })
}

statement! {
    InsertRedeemedGrant<'a> {
        ..grant: NewGrant<'a>,
        user_id: Id as Key,
        redeemed_at: At as Moment,
        newest_token: Id as Key,
    } = "\
        INSERT INTO grants (:grant.columns, review_at, user_id, redeemed_at, newest_token) \
        SELECT :grant.values, :grant.forget_after, :user_id, :redeemed_at, :newest_token \
        FROM clients WHERE clients.id = :grant.client_id \
        ON CONFLICT (id) DO NOTHING"
}
