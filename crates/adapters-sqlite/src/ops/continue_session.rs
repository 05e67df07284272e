//! A client gets a grant without a new signature.

use countersign_ports::{ContinueSession, SessionContinued};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};

use super::complete_login;
use super::record_event::record_about;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::statement::statement;

/// Guards: no grant has this id, the session has not expired, and one consent to these terms covers the
/// scopes. They are checked before anything is written, because a refusal does not roll back. The single
/// writer keeps them true until the commit.
pub(crate) fn continue_session(
    connection: &mut SqliteConnection,
    command: &ContinueSession,
) -> Result<SessionContinued, SqliteError> {
    let login = &command.login;
    let (id, client, user) = (login.id.as_uuid(), login.client.as_uuid(), login.new_user.as_uuid());
    let session = command.session.as_uuid();
    let signed = login.signed_scope();
    let agreed = command.agreed.to_text();
    let guards = Guards {
        code_hash: login.code_hash.as_bytes(),
        family: &login.account.family,
        chain: &login.account.chain,
        address: &login.account.address,
        grant: id.as_bytes(),
        session: session.as_bytes(),
        now: micros(login.now),
        user: user.as_bytes(),
        client_id: client.as_bytes(),
        destination: login.terms.destination.to_text(),
        audiences: &agreed,
        asked: signed.bits().into(),
        own_asked: &signed.own_text(),
    };
    let (is_repeated, lives, is_covered): (Option<bool>, bool, bool) = guards.get_result(connection)?;
    match is_repeated {
        Some(true) => return Ok(SessionContinued::CodeIssued),
        Some(false) => return Ok(SessionContinued::RequestSpent),
        None if !lives => return Ok(SessionContinued::SessionEnded),
        None if !is_covered => return Ok(SessionContinued::ConsentMissing),
        None => {}
    }
    complete_login::insert_grant(connection, login, Some(command.session), command.authenticated_at)?;
    let renew = RenewConsent {
        last_used_at: micros(login.now),
        user_id: user.as_bytes(),
        client_id: client.as_bytes(),
        destination: login.terms.destination.to_text(),
        audiences: &agreed,
    };
    renew.execute(connection)?;
    TouchSession { last_used_at: micros(login.now), id: session.as_bytes() }.execute(connection)?;
    record_about(connection, login.event.as_deref(), login.new_user)?;
    Ok(SessionContinued::CodeIssued)
}

statement! {
    /// Three answers at once: is the grant that has this id this command's, is the session live, and did the
    /// user agree to these scopes?
    Guards<'a> {
        code_hash: &'a [u8] as Binary,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        grant: &'a [u8] as Binary,
        session: &'a [u8] as Binary,
        now: i64 as BigInt,
        user: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
        destination: &'a str as Text,
        audiences: &'a str as Text,
        asked: i64 as BigInt,
        own_asked: &'a str as Text,
    } -> (Nullable<Bool>, Bool, Bool) = "\
        SELECT (SELECT code_hash = :code_hash AND family = :family AND chain = :chain AND address = :address FROM grants WHERE id = :grant), \
        EXISTS (SELECT 1 FROM login_sessions WHERE id = :session AND expires_at > :now), \
        EXISTS (SELECT 1 FROM signed_consents \
        WHERE user_id = :user AND client_id = :client_id AND destination = :destination AND audiences = :audiences AND :asked & ~scopes = 0 \
        AND (:own_asked = '' OR NOT EXISTS ( \
          SELECT 1 FROM json_each('[\"' || replace(:own_asked, ' ', '\",\"') || '\"]') \
          WHERE instr(' ' || own_scopes || ' ', ' ' || value || ' ') = 0 \
        )))"
}

statement! {
    RenewConsent<'a> {
        last_used_at: i64 as BigInt,
        user_id: &'a [u8] as Binary,
        client_id: &'a [u8] as Binary,
        destination: &'a str as Text,
        audiences: &'a str as Text,
    } = "\
        UPDATE signed_consents SET last_used_at = :last_used_at \
        WHERE user_id = :user_id AND client_id = :client_id AND destination = :destination AND audiences = :audiences"
}

statement! {
    TouchSession<'a> {
        last_used_at: i64 as BigInt,
        id: &'a [u8] as Binary,
    } = "UPDATE login_sessions SET last_used_at = :last_used_at WHERE id = :id"
}
