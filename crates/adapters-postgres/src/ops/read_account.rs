//! Look-ups of what belongs to a person: sessions, consents, the e-mail address, and all of it together.

use countersign_domain::consent::Consent;
use countersign_domain::email::UserEmail;
use countersign_domain::id::{ClientId, SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_ports::Account;
use diesel::prelude::*;
use time::OffsetDateTime;

use super::read::wallets_of;
use crate::error::OpResult;
use crate::rows::consent::ConsentRow;
use crate::rows::email::EmailRow;
use crate::rows::login_session::LoginSessionRow;
use crate::schema::{emails, login_sessions, signed_consents, users};

pub(crate) fn find_session(connection: &mut PgConnection, id: SessionId) -> OpResult<Option<LoginSession>> {
    let row = login_sessions::table
        .find(id.as_uuid())
        .select(LoginSessionRow::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(LoginSession::try_from).transpose()?)
}

pub(crate) fn consents_at(
    connection: &mut PgConnection,
    user: UserId,
    client: ClientId,
) -> OpResult<Vec<Consent>> {
    let rows = signed_consents::table
        .filter(signed_consents::user_id.eq(user.as_uuid()))
        .filter(signed_consents::client_id.eq(client.as_uuid()))
        .select(ConsentRow::as_select())
        .load(connection)?;
    let consents: Result<Vec<Consent>, _> = rows.into_iter().map(Consent::try_from).collect();
    let mut consents = consents?;
    consents.sort_by(|one, other| one.terms.cmp(&other.terms));
    Ok(consents)
}

pub(crate) fn find_email(connection: &mut PgConnection, user: UserId) -> OpResult<Option<UserEmail>> {
    let row =
        emails::table.find(user.as_uuid()).select(EmailRow::as_select()).first(connection).optional()?;
    Ok(row.map(UserEmail::try_from).transpose()?)
}

/// Several statements that see one state of the database.
pub(crate) fn find_account(connection: &mut PgConnection, user: UserId) -> OpResult<Option<Account>> {
    connection.build_transaction().read_only().repeatable_read().run(|connection| {
        let created_at: Option<OffsetDateTime> =
            users::table.find(user.as_uuid()).select(users::created_at).first(connection).optional()?;
        let Some(created_at) = created_at else { return Ok(None) };
        Ok(Some(Account {
            created_at,
            wallets: wallets_of(connection, user)?,
            consents: consents_of(connection, user)?,
            sessions: sessions_of(connection, user)?,
            email: find_email(connection, user)?,
        }))
    })
}

pub(crate) fn consents_of(connection: &mut PgConnection, user: UserId) -> OpResult<Vec<Consent>> {
    let rows = signed_consents::table
        .filter(signed_consents::user_id.eq(user.as_uuid()))
        .select(ConsentRow::as_select())
        .load(connection)?;
    let consents: Result<Vec<Consent>, _> = rows.into_iter().map(Consent::try_from).collect();
    let mut consents = consents?;
    consents.sort_by(Consent::last_used_first);
    Ok(consents)
}

pub(crate) fn sessions_of(connection: &mut PgConnection, user: UserId) -> OpResult<Vec<LoginSession>> {
    let rows = login_sessions::table
        .filter(login_sessions::user_id.eq(user.as_uuid()))
        .order((login_sessions::last_used_at.desc(), login_sessions::id))
        .select(LoginSessionRow::as_select())
        .load(connection)?;
    let sessions: Result<Vec<_>, _> = rows.into_iter().map(LoginSession::try_from).collect();
    Ok(sessions?)
}
