//! A session leads to a grant, without a signature.

use countersign_ports::{ContinueSession, SessionContinued};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::rows::consent::scope_bits;
use crate::rows::grant::redirect_uri;
use crate::statement::statement;

statement! {
    /// One row if the grant is new and its guards held, none otherwise.
    ///
    /// The consent and the session are locked before the grant is written, and so they are as the guards want them until it is
    /// stored. Whoever revokes the consent, ends the session or unlinks its wallet comes before, and no row is found here, or
    /// waits, and sees the grant in its next statement.
    StoreContinued<'a> {
        session: Uuid as SqlUuid,
        authenticated_at: OffsetDateTime as Timestamptz,
        id: Uuid as SqlUuid,
        client: Uuid as SqlUuid,
        user: Uuid as SqlUuid,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        redirect_uri: &'a str as Text,
        scope: String as Text,
        scopes: i32 as Integer,
        destination: &'a str as Text,
        agreed: String as Text,
        nonce: Option<&'a str> as Nullable<Text>,
        code_challenge: Option<&'a [u8]> as Nullable<Binary>,
        code_hash: &'a [u8] as Binary,
        now: OffsetDateTime as Timestamptz,
        code_expires_at: OffsetDateTime as Timestamptz,
        forget_after: OffsetDateTime as Timestamptz,
        particulars: Option<String> as Nullable<Text>,
    } = "\
        WITH agreed AS ( \
          SELECT user_id FROM signed_consents \
          WHERE user_id = :user AND client_id = :client AND destination = :destination AND audiences = :agreed \
            AND scopes & :scopes = :scopes FOR NO KEY UPDATE \
        ), live AS ( \
          SELECT user_id FROM login_sessions \
          WHERE id = :session AND user_id = :user AND expires_at > :now AND EXISTS (SELECT FROM agreed) \
          FOR NO KEY UPDATE \
        ), granted AS ( \
          INSERT INTO grants (id, client_id, user_id, family, chain, address, redirect_uri, scope, nonce, \
            code_challenge, code_hash, authenticated_at, code_expires_at, forget_after, review_at, particulars, \
            session_id) \
          SELECT :id, :client, user_id, :family, :chain, :address, :redirect_uri, :scope, :nonce, \
            :code_challenge, :code_hash, :authenticated_at, :code_expires_at, :forget_after, \
            :forget_after, :particulars, :session \
          FROM live \
          ON CONFLICT (id) DO NOTHING \
          RETURNING user_id \
        ), renewed AS ( \
          UPDATE signed_consents SET last_used_at = :now FROM granted \
          WHERE signed_consents.user_id = granted.user_id AND client_id = :client \
            AND destination = :destination AND audiences = :agreed \
        ) \
        UPDATE login_sessions SET last_used_at = :now FROM granted WHERE login_sessions.id = :session"
}

statement! {
    /// Whether the grant that has the id is this command's, if there is one, and whether the session lives.
    WhyNot<'a> {
        id: Uuid as SqlUuid,
        code_hash: &'a [u8] as Binary,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        session: Uuid as SqlUuid,
        user: Uuid as SqlUuid,
        now: OffsetDateTime as Timestamptz,
    } -> (Nullable<Bool>, Bool) = "\
        SELECT (SELECT code_hash = :code_hash AND family = :family AND chain = :chain AND address = :address \
            FROM grants WHERE id = :id), \
          EXISTS (SELECT FROM login_sessions WHERE id = :session AND user_id = :user AND expires_at > :now)"
}

pub(crate) fn continue_session(
    connection: &mut PgConnection,
    command: &ContinueSession,
) -> OpResult<SessionContinued> {
    let login = &command.login;
    let statement = StoreContinued {
        session: command.session.as_uuid(),
        authenticated_at: command.authenticated_at,
        id: login.id.as_uuid(),
        client: login.client.as_uuid(),
        user: login.new_user.as_uuid(),
        family: &login.account.family,
        chain: &login.account.chain,
        address: &login.account.address,
        redirect_uri: redirect_uri(login.redirect_uri.as_ref()),
        scope: login.scope.to_string(),
        scopes: scope_bits(login.scope),
        destination: login.terms.destination.to_text(),
        agreed: command.agreed.to_text(),
        nonce: login.nonce.as_deref(),
        code_challenge: login.code_challenge.as_ref().map(|challenge| challenge.as_bytes().as_slice()),
        code_hash: login.code_hash.as_bytes(),
        now: login.now,
        code_expires_at: login.code_expires_at,
        forget_after: login.forget_after,
        particulars: login.particulars.to_text(),
    };
    if statement.execute(connection)? == 1 {
        return Ok(SessionContinued::CodeIssued);
    }
    why_not(connection, command)
}

fn why_not(connection: &mut PgConnection, command: &ContinueSession) -> OpResult<SessionContinued> {
    let login = &command.login;
    let question = WhyNot {
        id: login.id.as_uuid(),
        code_hash: login.code_hash.as_bytes(),
        family: &login.account.family,
        chain: &login.account.chain,
        address: &login.account.address,
        session: command.session.as_uuid(),
        user: login.new_user.as_uuid(),
        now: login.now,
    };
    let (is_repeated, lives): (Option<bool>, bool) = question.get_result(connection)?;
    Ok(match is_repeated {
        Some(true) => SessionContinued::CodeIssued,
        Some(false) => SessionContinued::RequestSpent,
        None if lives => SessionContinued::ConsentMissing,
        None => SessionContinued::SessionEnded,
    })
}
