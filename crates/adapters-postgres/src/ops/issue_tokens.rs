//! A client gets tokens for itself.

use countersign_ports::{IssueTokens, TokensIssued};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::rows::grant::{redirect_uri, user_and_wallet};
use crate::schema::{grants, tokens};
use crate::statement::statement;

statement! {
    /// One row if the client is there and the id was free, none otherwise. The client is locked against going away: its removal
    /// waits, and sees the grant.
    IssueFirstToken<'a> {
        grant: Uuid as SqlUuid,
        client: Uuid as SqlUuid,
        user: Uuid as SqlUuid,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        redirect_uri: &'a str as Text,
        grant_scope: String as Text,
        code_hash: &'a [u8] as Binary,
        authenticated_at: OffsetDateTime as Timestamptz,
        code_expires_at: OffsetDateTime as Timestamptz,
        particulars: Option<String> as Nullable<Text>,
        forget_grant_after: OffsetDateTime as Timestamptz,
        now: OffsetDateTime as Timestamptz,
        id: Uuid as SqlUuid,
        scope: String as Text,
        issued_at: OffsetDateTime as Timestamptz,
        access_hash: &'a [u8] as Binary,
        access_expires_at: OffsetDateTime as Timestamptz,
        refresh_hash: Option<&'a [u8]> as Nullable<Binary>,
        refresh_expires_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
        forget_token_after: OffsetDateTime as Timestamptz,
        bound_key: Option<&'a [u8]> as Nullable<Binary>,
    } = "\
        WITH registered AS ( \
          SELECT id FROM clients WHERE id = :client FOR KEY SHARE \
        ), granted AS ( \
          INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, code_hash, \
            authenticated_at, code_expires_at, forget_after, review_at, particulars, redeemed_at, \
            newest_token) \
          SELECT :grant, registered.id, :user, :family, :chain, :address, :redirect_uri, :grant_scope, :code_hash, \
            :authenticated_at, :code_expires_at, :forget_grant_after, :forget_grant_after, \
            :particulars, :now, :id \
          FROM registered \
          ON CONFLICT (id) DO NOTHING \
          RETURNING id \
        ) \
        INSERT INTO tokens (id, grant_id, scope, issued_at, access_hash, access_expires_at, refresh_hash, \
          refresh_expires_at, forget_after, bound_key) \
        SELECT :id, granted.id, :scope, :issued_at, :access_hash, :access_expires_at, :refresh_hash, \
          :refresh_expires_at, :forget_token_after, :bound_key \
        FROM granted"
}

pub(crate) fn issue_tokens(connection: &mut PgConnection, command: &IssueTokens) -> OpResult<TokensIssued> {
    let IssueTokens { grant, token, .. } = command;
    let (user, account) = user_and_wallet(grant);
    let statement = IssueFirstToken {
        grant: grant.id.as_uuid(),
        client: grant.client.as_uuid(),
        user,
        family: &account.family,
        chain: &account.chain,
        address: &account.address,
        redirect_uri: redirect_uri(grant.redirect_uri.as_ref()),
        grant_scope: grant.scope.to_string(),
        code_hash: grant.code_hash.as_bytes(),
        authenticated_at: grant.authenticated_at,
        code_expires_at: grant.code_expires_at,
        particulars: grant.particulars.to_text(),
        forget_grant_after: command.forget_after,
        now: command.now,
        id: token.id.as_uuid(),
        scope: token.scope.to_string(),
        issued_at: token.issued_at,
        access_hash: token.access_hash.as_bytes(),
        access_expires_at: token.access_expires_at,
        refresh_hash: token.refresh.as_ref().map(|refresh| refresh.hash.as_bytes().as_slice()),
        refresh_expires_at: token.refresh.as_ref().map(|refresh| refresh.expires_at),
        forget_token_after: token.forget_after(),
        bound_key: token.key.as_ref().map(|key| key.as_bytes().as_slice()),
    };
    if statement.execute(connection)? == 1 {
        return Ok(TokensIssued::Stored);
    }
    let (id, token) = (grant.id.as_uuid(), token.id.as_uuid());
    let this_token = tokens::table.find(token).filter(tokens::grant_id.eq(id));
    let is_there: Option<bool> =
        grants::table.find(id).select(exists(this_token)).first(connection).optional()?;
    Ok(match is_there {
        Some(true) => TokensIssued::Stored,
        Some(false) => TokensIssued::IdTaken,
        None => TokensIssued::ClientUnknown,
    })
}
