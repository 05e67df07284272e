//! A client gets a grant without a new signature.

use countersign_ports::{ContinueSession, SessionContinued};
use countersign_sql::columns::{At, BigInt, Binary, Bool, Id, Key, Moment, Nullable, Text};
use countersign_sql::ops::events::record_event::record_about;
use diesel::prelude::*;

use super::complete_login;
use crate::error::SqliteError;
use crate::statement::statement;

/// Guards: no grant has this id, the session has not expired, and one consent to these terms covers the
/// scopes. They are checked before anything is written, because a refusal does not roll back. The single
/// writer keeps them true until the commit.
pub(crate) fn continue_session(
    connection: &mut SqliteConnection,
    command: &ContinueSession,
) -> Result<SessionContinued, SqliteError> {
    let login = &command.login;
    let (id, client, user) = (Id::from(login.id), Id::from(login.client), Id::from(login.new_user));
    let session = Id::from(command.session);
    let signed = login.signed_scope();
    let agreed = command.agreed.to_text();
    let guards = Guards {
        code_hash: login.code_hash.as_bytes(),
        family: &login.account.family,
        chain: &login.account.chain,
        address: &login.account.address,
        grant: id,
        session,
        now: At(login.now),
        user,
        client_id: client,
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
        last_used_at: At(login.now),
        user_id: user,
        client_id: client,
        destination: login.terms.destination.to_text(),
        audiences: &agreed,
    };
    renew.execute(connection)?;
    TouchSession { last_used_at: At(login.now), id: session }.execute(connection)?;
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
        grant: Id as Key,
        session: Id as Key,
        now: At as Moment,
        user: Id as Key,
        client_id: Id as Key,
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
        last_used_at: At as Moment,
        user_id: Id as Key,
        client_id: Id as Key,
        destination: &'a str as Text,
        audiences: &'a str as Text,
    } = "\
        UPDATE signed_consents SET last_used_at = :last_used_at \
        WHERE user_id = :user_id AND client_id = :client_id AND destination = :destination AND audiences = :audiences"
}

statement! {
    TouchSession {
        last_used_at: At as Moment,
        id: Id as Key,
    } = "UPDATE login_sessions SET last_used_at = :last_used_at WHERE id = :id"
}
