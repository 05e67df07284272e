//! A client gets tokens for itself.

use countersign_ports::{IssueTokens, TokensIssued};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::statement::statement;
use super::tokens;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::rows::grant::{redirect_uri, user_and_wallet};
use crate::schema::grants;

/// Guards: the client is there, and no grant has this id. They are in the one insert.
pub(crate) fn issue_tokens(
    connection: &mut SqliteConnection,
    command: &IssueTokens,
) -> Result<TokensIssued, SqliteError> {
    let IssueTokens { grant, token, .. } = command;
    let (id, client) = (grant.id.as_uuid(), grant.client.as_uuid());
    let (user, account) = user_and_wallet(grant);
    let newest = token.id.as_uuid();
    let scope = grant.scope.to_string();
    let particulars = grant.particulars.to_text();
    let insert = InsertRedeemedGrant {
        id: id.as_bytes(),
        client_id: client.as_bytes(),
        user_id: user.as_bytes(),
        family: &account.family,
        chain: &account.chain,
        address: &account.address,
        redirect_uri: redirect_uri(grant.redirect_uri.as_ref()),
        scope: &scope,
        code_hash: grant.code_hash.as_bytes(),
        authenticated_at: micros(grant.authenticated_at),
        code_expires_at: micros(grant.code_expires_at),
        forget_after: micros(command.forget_after),
        review_at: micros(command.forget_after),
        particulars: particulars.as_deref(),
        redeemed_at: micros(command.now),
        newest_token: newest.as_bytes(),
        registered: client.as_bytes(),
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
    struct InsertRedeemedGrant<'a> {
        id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
        user_id: &'a [u8] as Binary,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        redirect_uri: &'a str as Text,
        scope: &'a str as Text,
        code_hash: &'a [u8] as Binary,
        authenticated_at: i64 as BigInt,
        code_expires_at: i64 as BigInt,
        forget_after: i64 as BigInt,
        review_at: i64 as BigInt,
        particulars: Option<&'a str> as Nullable<Text>,
        redeemed_at: i64 as BigInt,
        newest_token: &'a [u8] as Binary,
        registered: &'a [u8] as Binary,
    }
    "INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, code_hash, \
     authenticated_at, code_expires_at, forget_after, review_at, particulars, redeemed_at, newest_token) \
     SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM clients WHERE clients.id = ? \
     ON CONFLICT (id) DO NOTHING"
}
