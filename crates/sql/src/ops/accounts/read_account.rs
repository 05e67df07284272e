//! Look-ups of what belongs to a person: sessions, consents, the e-mail address, and all of it together.

use countersign_domain::consent::Consent;
use countersign_domain::email::UserEmail;
use countersign_domain::id::{ClientId, SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_ports::{Account, LinkedWallet};

use crate::columns::{Id, Key, Moment, Row, StoredTime};
use crate::database::Statement;
use crate::rows::consent::{ConsentRow, ConsentSql};
use crate::rows::email::{EmailRow, EmailSql};
use crate::rows::login_session::{LoginSessionRow, LoginSessionSql};
use crate::rows::wallet::{WalletRow, WalletSql};
use crate::statement::statement;
use crate::{Database, SqlError};

pub fn find_session(db: &mut impl Database, id: SessionId) -> Result<Option<LoginSession>, SqlError> {
    let row: Option<LoginSessionRow> = FindSession { id: id.into() }.maybe(db)?;
    row.map(LoginSession::try_from).transpose()
}

pub fn consents_at(db: &mut impl Database, user: UserId, client: ClientId) -> Result<Vec<Consent>, SqlError> {
    let rows: Vec<ConsentRow> = ConsentsAt { user: user.into(), client: client.into() }.all(db)?;
    let mut consents = rows.into_iter().map(Consent::try_from).collect::<Result<Vec<_>, _>>()?;
    consents.sort_by(|one, other| one.terms.cmp(&other.terms));
    Ok(consents)
}

pub fn find_email(db: &mut impl Database, user: UserId) -> Result<Option<UserEmail>, SqlError> {
    let row: Option<EmailRow> = FindEmail { user: user.into() }.maybe(db)?;
    row.map(UserEmail::try_from).transpose()
}

pub fn find_account(db: &mut impl Database, user: UserId) -> Result<Option<Account>, SqlError> {
    db.snapshot(|db| {
        let created_at: Option<StoredTime> = FindUser { id: user.into() }.maybe(db)?;
        let Some(created_at) = created_at else { return Ok(None) };
        Ok(Some(Account {
            created_at: Row { table: "users", key: &user }.time("created_at", created_at)?,
            wallets: wallets_of(db, user)?,
            consents: consents_of(db, user)?,
            sessions: sessions_of(db, user)?,
            email: find_email(db, user)?,
        }))
    })
}

pub fn wallets_of(db: &mut impl Database, user: UserId) -> Result<Vec<LinkedWallet>, SqlError> {
    let rows: Vec<WalletRow> = WalletsOf { user: user.into() }.all(db)?;
    rows.into_iter().map(LinkedWallet::try_from).collect()
}

/// The consents of a user, the last used first.
pub fn consents_of(db: &mut impl Database, user: UserId) -> Result<Vec<Consent>, SqlError> {
    let rows: Vec<ConsentRow> = ConsentsOf { user: user.into() }.all(db)?;
    let mut consents = rows.into_iter().map(Consent::try_from).collect::<Result<Vec<_>, _>>()?;
    consents.sort_by(Consent::last_used_first);
    Ok(consents)
}

/// The sessions of a user, the last used first.
pub fn sessions_of(db: &mut impl Database, user: UserId) -> Result<Vec<LoginSession>, SqlError> {
    let rows: Vec<LoginSessionRow> = SessionsOf { user: user.into() }.all(db)?;
    rows.into_iter().map(LoginSession::try_from).collect()
}

statement! {
    FindSession { id: Id as Key } -> LoginSessionSql = "\
        SELECT id, user_id, family, chain, address, secret_hash, browser, authenticated_at, last_used_at, expires_at \
        FROM login_sessions WHERE id = :id"
}

statement! {
    ConsentsAt {
        user: Id as Key,
        client: Id as Key,
    } -> ConsentSql = "\
        SELECT user_id, client_id, destination, audiences, scopes, own_scopes, granted_at, last_used_at \
        FROM signed_consents WHERE user_id = :user AND client_id = :client"
}

statement! {
    FindEmail { user: Id as Key } -> EmailSql = "\
        SELECT user_id, address, added_at, verified_at, confirmation_hash, confirmation_expires_at \
        FROM emails WHERE user_id = :user"
}

statement! {
    FindUser { id: Id as Key } -> Moment = "SELECT created_at FROM users WHERE id = :id"
}

statement! {
    /// Sorted by bytes: the order of a database's own language is not the order that other stores use.
    WalletsOf { user: Id as Key } -> WalletSql,
    sqlite = "\
        SELECT family, chain, address, linked_at, name FROM wallets WHERE user_id = :user \
        ORDER BY linked_at, family, address",
    postgres = "\
        SELECT family, chain, address, linked_at, name FROM wallets WHERE user_id = :user \
        ORDER BY linked_at, family COLLATE \"C\", address COLLATE \"C\""
}

statement! {
    ConsentsOf { user: Id as Key } -> ConsentSql = "\
        SELECT user_id, client_id, destination, audiences, scopes, own_scopes, granted_at, last_used_at \
        FROM signed_consents WHERE user_id = :user"
}

statement! {
    SessionsOf { user: Id as Key } -> LoginSessionSql = "\
        SELECT id, user_id, family, chain, address, secret_hash, browser, authenticated_at, last_used_at, expires_at \
        FROM login_sessions WHERE user_id = :user ORDER BY last_used_at DESC, id"
}
