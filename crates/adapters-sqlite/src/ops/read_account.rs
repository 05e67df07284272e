//! Look-ups of what belongs to a person: sessions, consents, the e-mail address, and all of it together.

use countersign_domain::consent::Consent;
use countersign_domain::email::UserEmail;
use countersign_domain::id::{ClientId, SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_ports::Account;
use diesel::prelude::*;

use super::read::wallets_of;
use crate::error::SqliteError;
use crate::rows::consent::ConsentRow;
use crate::rows::email::EmailRow;
use crate::rows::field::Row;
use crate::rows::login_session::LoginSessionRow;
use crate::schema::{emails, login_sessions, signed_consents, users};

pub(crate) fn find_session(
    connection: &mut SqliteConnection,
    id: SessionId,
) -> Result<Option<LoginSession>, SqliteError> {
    let id = id.as_uuid();
    let row = login_sessions::table
        .find(id.as_bytes().as_slice())
        .select(LoginSessionRow::as_select())
        .get_result(connection)
        .optional()?;
    row.map(LoginSession::try_from).transpose()
}

pub(crate) fn consents_at(
    connection: &mut SqliteConnection,
    user: UserId,
    client: ClientId,
) -> Result<Vec<Consent>, SqliteError> {
    let (user, client) = (user.as_uuid(), client.as_uuid());
    let rows = signed_consents::table
        .filter(signed_consents::user_id.eq(user.as_bytes().as_slice()))
        .filter(signed_consents::client_id.eq(client.as_bytes().as_slice()))
        .select(ConsentRow::as_select())
        .load(connection)?;
    let consents: Result<Vec<Consent>, _> = rows.into_iter().map(Consent::try_from).collect();
    let mut consents = consents?;
    consents.sort_by(|one, other| one.terms.cmp(&other.terms));
    Ok(consents)
}

pub(crate) fn find_email(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Option<UserEmail>, SqliteError> {
    let user = user.as_uuid();
    let row = emails::table
        .find(user.as_bytes().as_slice())
        .select(EmailRow::as_select())
        .get_result(connection)
        .optional()?;
    row.map(UserEmail::try_from).transpose()
}

/// Five statements that see one state of the database: the one that the first of them saw.
pub(crate) fn find_account(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Option<Account>, SqliteError> {
    connection.transaction(|connection| {
        let uuid = user.as_uuid();
        let id = uuid.as_bytes().as_slice();
        let created_at: Option<i64> =
            users::table.find(id).select(users::created_at).get_result(connection).optional()?;
        let Some(created_at) = created_at else { return Ok(None) };
        Ok(Some(Account {
            created_at: Row { table: "users", key: id }.time("created_at", created_at)?,
            wallets: wallets_of(connection, user)?,
            consents: consents_of(connection, id)?,
            sessions: sessions_of(connection, id)?,
            email: find_email(connection, user)?,
        }))
    })
}

pub(crate) fn consents_of(
    connection: &mut SqliteConnection,
    user_id: &[u8],
) -> Result<Vec<Consent>, SqliteError> {
    let rows = signed_consents::table
        .filter(signed_consents::user_id.eq(user_id))
        .select(ConsentRow::as_select())
        .load(connection)?;
    let consents: Result<Vec<Consent>, _> = rows.into_iter().map(Consent::try_from).collect();
    let mut consents = consents?;
    consents.sort_by(Consent::last_used_first);
    Ok(consents)
}

pub(crate) fn sessions_of(
    connection: &mut SqliteConnection,
    user_id: &[u8],
) -> Result<Vec<LoginSession>, SqliteError> {
    let rows = login_sessions::table
        .filter(login_sessions::user_id.eq(user_id))
        .order((login_sessions::last_used_at.desc(), login_sessions::id))
        .select(LoginSessionRow::as_select())
        .load(connection)?;
    rows.into_iter().map(LoginSession::try_from).collect()
}
