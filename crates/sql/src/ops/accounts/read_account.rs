//! Look-ups of what belongs to a person and no sign-in needs.

use countersign_domain::consent::Consent;
use countersign_domain::id::UserId;
use countersign_domain::login_session::LoginSession;

use crate::columns::{Id, Key};
use crate::database::Statement;
use crate::rows::consent::{ConsentRow, ConsentSql};
use crate::rows::login_session::{LoginSessionRow, LoginSessionSql};
use crate::statement::statement;
use crate::{Database, SqlError};

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
    ConsentsOf { user: Id as Key } -> ConsentSql = "\
        SELECT user_id, client_id, destination, audiences, scopes, own_scopes, granted_at, last_used_at \
        FROM signed_consents WHERE user_id = :user"
}

statement! {
    SessionsOf { user: Id as Key } -> LoginSessionSql = "\
        SELECT id, user_id, family, chain, address, secret_hash, browser, authenticated_at, last_used_at, expires_at \
        FROM login_sessions WHERE user_id = :user ORDER BY last_used_at DESC, id"
}
