//! A login: the grant first, because its key is the guard; then, for a wallet that nobody has, the wallet and its user; then
//! what the user agreed to, and what the browser remembers.

use countersign_domain::id::UserId;
use countersign_ports::{CompleteLogin, LoginCompleted};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::wallets::until_the_wallet_is_known;
use crate::error::OpResult;
use crate::rows::consent::scope_bits;
use crate::rows::grant::redirect_uri;
use crate::schema::grants;
use crate::statement::statement;

statement! {
    /// Gives the user if the grant is new; only then anything is written. If another first login of the wallet was faster, or
    /// somebody who linked it, the wallet's key is taken, which fails the whole statement: the grant would name a user who has
    /// no wallet.
    ///
    /// A known wallet is locked against going away: either unlinking waits for this login, sees its grant and revokes it, or
    /// this login waits for the unlinking and finds the wallet to be nobody's. This holds because a wallet only changes hands as
    /// a row that goes and another that comes; an update of `user_id` would not be noticed here. The lock is a mark in the
    /// wallet's row: up to 1 KB of log for a login, most of it for the first one on a page after a checkpoint, and no difference
    /// that could be measured in logins per second.
    ///
    /// The rows that will be written are locked first, in the order that `ops.rs` tells: whoever continues a session holds its
    /// consent and its row when it waits for a grant of this id. What makes one CTE wait for another is that it asks how many
    /// rows that has, never more than one. Logins wait for each other only at one user's consent for one client and one set of terms.
    StoreLogin<'a> {
        id: Uuid as SqlUuid,
        client: Uuid as SqlUuid,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        new_user: Uuid as SqlUuid,
        redirect_uri: &'a str as Text,
        scope: String as Text,
        scopes: i32 as Integer,
        destination: &'a str as Text,
        audiences: String as Text,
        nonce: Option<&'a str> as Nullable<Text>,
        code_challenge: Option<&'a [u8]> as Nullable<Binary>,
        code_hash: &'a [u8] as Binary,
        now: OffsetDateTime as Timestamptz,
        code_expires_at: OffsetDateTime as Timestamptz,
        forget_after: OffsetDateTime as Timestamptz,
        particulars: Option<String> as Nullable<Text>,
        session: Option<Uuid> as Nullable<SqlUuid>,
        session_hash: Option<&'a [u8]> as Nullable<Binary>,
        browser: Option<&'a str> as Nullable<Text>,
        session_expires_at: Option<OffsetDateTime> as Nullable<Timestamptz>,
        replaces: Option<Uuid> as Nullable<SqlUuid>,
    } -> (SqlUuid) = "\
        WITH known AS ( \
          SELECT user_id FROM wallets WHERE family = :family AND address = :address FOR KEY SHARE \
        ), agreed AS ( \
          SELECT user_id FROM signed_consents WHERE user_id = (SELECT user_id FROM known) AND client_id = :client \
            AND destination = :destination AND audiences = :audiences \
          FOR NO KEY UPDATE \
        ), replaced AS ( \
          SELECT id FROM login_sessions WHERE id = :replaces AND (SELECT count(*) FROM agreed) < 2 FOR UPDATE \
        ), granted AS ( \
          INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, nonce, \
            code_challenge, code_hash, authenticated_at, code_expires_at, forget_after, review_at, particulars, \
            session_id) \
          SELECT :id, :client, COALESCE((SELECT user_id FROM known), :new_user), :family, :chain, :address, \
            :redirect_uri, :scope, :nonce, :code_challenge, :code_hash, :now, :code_expires_at, :forget_after, \
            :forget_after, :particulars, :session \
          WHERE (SELECT count(*) FROM agreed) < 2 AND (SELECT count(*) FROM replaced) < 2 \
          ON CONFLICT (id) DO NOTHING \
          RETURNING user_id \
        ), linked AS ( \
          INSERT INTO wallets (family, address, user_id, linked_at, chain) \
          SELECT :family, :address, user_id, :now, :chain FROM granted WHERE NOT EXISTS (SELECT FROM known) \
          RETURNING user_id \
        ), born AS ( \
          INSERT INTO users (id, created_at, untold_since) SELECT user_id, :now, :now FROM linked \
        ), consented AS ( \
          INSERT INTO signed_consents (user_id, client_id, destination, audiences, scopes, granted_at, last_used_at) \
          SELECT user_id, :client, :destination, :audiences, :scopes, :now, :now FROM granted \
          ON CONFLICT (user_id, client_id, destination, audiences) DO UPDATE \
          SET scopes = signed_consents.scopes | excluded.scopes, last_used_at = excluded.last_used_at \
        ), ended AS ( \
          DELETE FROM login_sessions USING granted WHERE login_sessions.id = :replaces \
        ), opened AS ( \
          INSERT INTO login_sessions (id, user_id, family, chain, address, secret_hash, browser, \
            authenticated_at, last_used_at, expires_at) \
          SELECT :session, user_id, :family, :chain, :address, :session_hash, :browser, :now, :now, \
            :session_expires_at \
          FROM granted WHERE :session IS NOT NULL \
        ) \
        SELECT user_id FROM granted"
}

pub(crate) fn complete_login(
    connection: &mut PgConnection,
    command: &CompleteLogin,
) -> OpResult<LoginCompleted> {
    let stored = until_the_wallet_is_known(|| store(connection, command))?;
    if let Some(user) = stored {
        return Ok(LoginCompleted::CodeIssued { user: UserId::from_uuid(user) });
    }
    let account = &command.account;
    let this_grant = grants::table
        .find(command.id.as_uuid())
        .filter(grants::code_hash.eq(command.code_hash.as_bytes().as_slice()))
        .filter(grants::family.eq(&account.family))
        .filter(grants::chain.eq(&account.chain))
        .filter(grants::address.eq(&account.address));
    let user: Option<Uuid> = this_grant.select(grants::user_id).first(connection).optional()?;
    Ok(user.map_or(LoginCompleted::ChallengeSpent, |user| LoginCompleted::CodeIssued {
        user: UserId::from_uuid(user),
    }))
}

fn store(connection: &mut PgConnection, command: &CompleteLogin) -> OpResult<Option<Uuid>> {
    let session = command.session.as_ref();
    let statement = StoreLogin {
        id: command.id.as_uuid(),
        client: command.client.as_uuid(),
        family: &command.account.family,
        chain: &command.account.chain,
        address: &command.account.address,
        new_user: command.new_user.as_uuid(),
        redirect_uri: redirect_uri(command.redirect_uri.as_ref()),
        scope: command.scope.to_string(),
        scopes: scope_bits(command.scope),
        destination: command.terms.destination.to_text(),
        audiences: command.terms.audiences.to_text(),
        nonce: command.nonce.as_deref(),
        code_challenge: command.code_challenge.as_ref().map(|challenge| challenge.as_bytes().as_slice()),
        code_hash: command.code_hash.as_bytes(),
        now: command.now,
        code_expires_at: command.code_expires_at,
        forget_after: command.forget_after,
        particulars: command.particulars.to_text(),
        session: session.map(|session| session.id.as_uuid()),
        session_hash: session.map(|session| session.secret_hash.as_bytes().as_slice()),
        browser: session.map(|session| session.browser.as_str()),
        session_expires_at: session.map(|session| session.expires_at),
        replaces: session.and_then(|session| session.replaces).map(|replaced| replaced.as_uuid()),
    };
    let mut users: Vec<(Uuid,)> = statement.load(connection)?;
    Ok(users.pop().map(|(user,)| user))
}
