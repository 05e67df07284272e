//! Look-ups of what belongs to a person: sessions, consents, the e-mail address, and all of it together.

use countersign_domain::consent::Consent;
use countersign_domain::email::UserEmail;
use countersign_domain::id::{ClientId, SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_ports::{Account, LinkedWallet};
use countersign_sql::columns::{Id, Row, StoredTime};
use countersign_sql::ops::accounts::read_account::{consents_of, sessions_of};
use countersign_sql::rows::consent::ConsentRow;
use countersign_sql::rows::email::EmailRow;
use countersign_sql::rows::login_session::LoginSessionRow;
use countersign_sql::rows::wallet::WalletRow;
use countersign_sql::schema::{emails, login_sessions, signed_consents, users, wallets};
use diesel::prelude::*;

use crate::error::SqliteError;

pub(crate) fn find_session(
    connection: &mut SqliteConnection,
    id: SessionId,
) -> Result<Option<LoginSession>, SqliteError> {
    let row = login_sessions::table
        .find(Id::from(id))
        .select(LoginSessionRow::as_select())
        .get_result(connection)
        .optional()?;
    Ok(row.map(LoginSession::try_from).transpose()?)
}

pub(crate) fn consents_at(
    connection: &mut SqliteConnection,
    user: UserId,
    client: ClientId,
) -> Result<Vec<Consent>, SqliteError> {
    let (user, client) = (Id::from(user), Id::from(client));
    let rows = signed_consents::table
        .filter(signed_consents::user_id.eq(user))
        .filter(signed_consents::client_id.eq(client))
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
    let row =
        emails::table.find(Id::from(user)).select(EmailRow::as_select()).get_result(connection).optional()?;
    Ok(row.map(UserEmail::try_from).transpose()?)
}

/// Five statements that see one state of the database: the one that the first of them saw.
pub(crate) fn find_account(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Option<Account>, SqliteError> {
    connection.transaction(|connection| {
        let found = users::table.find(Id::from(user)).select(users::created_at);
        let created_at: Option<StoredTime> = found.get_result(connection).optional()?;
        let Some(created_at) = created_at else { return Ok(None) };
        Ok(Some(Account {
            created_at: Row { table: "users", key: &user }.time("created_at", created_at)?,
            wallets: wallets_of(connection, user)?,
            consents: consents_of(connection, user)?,
            sessions: sessions_of(connection, user)?,
            email: find_email(connection, user)?,
        }))
    })
}

pub(crate) fn wallets_of(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Vec<LinkedWallet>, SqliteError> {
    let user = Id::from(user);
    let rows = wallets::table
        .filter(wallets::user_id.eq(user))
        .order((wallets::linked_at, wallets::family, wallets::address))
        .select((wallets::family, wallets::address, wallets::linked_at, wallets::chain, wallets::name))
        .load::<(String, String, StoredTime, Option<String>, Option<String>)>(connection)?;
    let read = |(family, address, linked_at, chain, name)| {
        LinkedWallet::try_from(WalletRow { family, chain, address, linked_at, name })
    };
    Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
}
