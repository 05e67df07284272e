//! A client gets a grant without a new signature.

use countersign_ports::{ContinueSession, SessionContinued};
use countersign_sql::rows::grant::NewGrant;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::{Act, ActText, load, statement};

pub(crate) fn continue_session(
    connection: &mut PgConnection,
    command: &ContinueSession,
) -> OpResult<SessionContinued> {
    let login = &command.login;
    let signed = login.signed_scope();
    let statement = StoreContinued {
        grant: NewGrant::of_login(login, Some(command.session), command.authenticated_at),
        user: login.new_user.as_uuid(),
        scopes: signed.bits().into(),
        own_scopes: signed.own_text(),
        destination: login.terms.destination.to_text(),
        agreed: command.agreed.to_text(),
        now: login.now,
    };
    let event = login.event.as_deref().map(|event| (login.id.as_uuid(), event));
    let granted: Vec<Uuid> = load(connection, statement, event)?;
    if !granted.is_empty() {
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

statement! {
    /// Returns the user if the grant is new and the guards held, nothing otherwise.
    ///
    /// The consent and the session are locked before the grant is written, so they stay as the guards found
    /// them until it is stored. An operation that revokes the consent, ends the session or unlinks its wallet
    /// either comes first, and then no row is found here, or waits, and then sees the grant in its next
    /// statement.
    StoreContinued<'a> {
        ..grant: NewGrant<'a>,
        user: Uuid as SqlUuid,
        scopes: i32 as Integer,
        own_scopes: String as Text,
        destination: &'a str as Text,
        agreed: String as Text,
        now: OffsetDateTime as Timestamptz,
    } = "\
        WITH agreed AS ( \
          SELECT user_id FROM signed_consents \
          WHERE user_id = :user AND client_id = :grant.client_id \
            AND destination = :destination AND audiences = :agreed AND scopes & :scopes = :scopes \
            AND string_to_array(:own_scopes, ' ') <@ string_to_array(own_scopes, ' ') \
          FOR NO KEY UPDATE \
        ), live AS ( \
          SELECT user_id FROM login_sessions \
          WHERE id = :grant.session_id AND user_id = :user AND expires_at > :now \
            AND EXISTS (SELECT FROM agreed) \
          FOR NO KEY UPDATE \
        ), granted AS ( \
          INSERT INTO grants (:grant.columns, review_at, user_id) \
          SELECT :grant.values, :grant.forget_after, user_id FROM live \
          ON CONFLICT (id) DO NOTHING \
          RETURNING user_id \
        ), renewed AS ( \
          UPDATE signed_consents SET last_used_at = :now FROM granted \
          WHERE signed_consents.user_id = granted.user_id AND client_id = :grant.client_id \
            AND destination = :destination AND audiences = :agreed \
        ), used AS ( \
          UPDATE login_sessions SET last_used_at = :now FROM granted WHERE login_sessions.id = :grant.session_id \
        )"
}

impl Act for StoreContinued<'_> {
    type Answer = SqlUuid;
    const TEXT: ActText = ActText::One { done: "granted", answer: " SELECT user_id FROM granted" };
}

statement! {
    /// Is the grant that has the id this command's, if there is one, and is the session live?
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
