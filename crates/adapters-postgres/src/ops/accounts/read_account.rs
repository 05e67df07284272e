//! Look-ups of what belongs to a person: sessions, consents, the e-mail address, and all of it together.

use countersign_domain::consent::Consent;
use countersign_domain::email::UserEmail;
use countersign_domain::id::{ClientId, SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_ports::{Account, LinkedWallet};
use countersign_sql::columns::{Id, Key, Row, StoredTime};
use countersign_sql::ops::accounts::read_account::{consents_of, sessions_of};
use countersign_sql::rows::consent::ConsentRow;
use countersign_sql::rows::email::EmailRow;
use countersign_sql::rows::login_session::LoginSessionRow;
use countersign_sql::rows::wallet::{WalletRow, WalletSql};
use countersign_sql::schema::{emails, login_sessions, signed_consents, users};
use diesel::prelude::*;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn find_session(connection: &mut PgConnection, id: SessionId) -> OpResult<Option<LoginSession>> {
    let row = login_sessions::table
        .find(Id::from(id))
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
        .filter(signed_consents::user_id.eq(Id::from(user)))
        .filter(signed_consents::client_id.eq(Id::from(client)))
        .select(ConsentRow::as_select())
        .load(connection)?;
    let consents: Result<Vec<Consent>, _> = rows.into_iter().map(Consent::try_from).collect();
    let mut consents = consents?;
    consents.sort_by(|one, other| one.terms.cmp(&other.terms));
    Ok(consents)
}

pub(crate) fn find_email(connection: &mut PgConnection, user: UserId) -> OpResult<Option<UserEmail>> {
    let row =
        emails::table.find(Id::from(user)).select(EmailRow::as_select()).first(connection).optional()?;
    Ok(row.map(UserEmail::try_from).transpose()?)
}

/// Several statements that see one state of the database.
pub(crate) fn find_account(connection: &mut PgConnection, user: UserId) -> OpResult<Option<Account>> {
    connection.build_transaction().read_only().repeatable_read().run(|connection| {
        let found = users::table.find(Id::from(user)).select(users::created_at);
        let created_at: Option<StoredTime> = found.first(connection).optional()?;
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

pub(crate) fn wallets_of(connection: &mut PgConnection, user: UserId) -> OpResult<Vec<LinkedWallet>> {
    let rows: Vec<WalletRow> = WalletsOf { user: user.into() }.load(connection)?;
    Ok(rows.into_iter().map(LinkedWallet::try_from).collect::<Result<_, _>>()?)
}

statement! {
    /// Sorted by bytes: the order of the database's own language is not the order that other stores use.
    WalletsOf { user: Id as Key } -> WalletSql = "\
        SELECT family, chain, address, linked_at, name FROM wallets WHERE user_id = :user \
        ORDER BY linked_at, family COLLATE \"C\", address COLLATE \"C\""
}
