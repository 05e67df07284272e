//! The login session that a browser presents, and how a new one is made. Signing in, continuing and the
//! account page share this.

use countersign_domain::id::SessionId;
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::login_session::LoginSession;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{EntropyExt, NewSession, StoreError};
use time::{Duration, OffsetDateTime};

use crate::Context;

/// The browser that sends the request.
#[derive(Clone, Debug, Default)]
pub struct Browser {
    /// What people call it, for example `Firefox on Linux`.
    pub name: String,
    /// The secret of the login session that it presents.
    pub login: Option<Secret>,
}

/// A sign-in that the browser is to remember.
#[derive(Clone, Debug)]
pub struct Remembered {
    /// What the browser presents from now on.
    pub secret: Secret,
    /// How long it is valid.
    pub lifetime: Duration,
}

/// Finds the session that a browser presents, if it is valid. Otherwise the browser counts as signed out.
pub async fn find_login(
    context: &Context,
    presented: Option<&Secret>,
) -> Result<Option<LoginSession>, StoreError> {
    let Some(secret) = presented else { return Ok(None) };
    let Some(id) = secret.id() else { return Ok(None) };
    let now = context.clock.now();
    let found = context.storage.find_session(SessionId::from_uuid(id)).await?;
    Ok(found.filter(|session| session.admits(now, secret)))
}

/// Makes a session that replaces the one that the browser presents.
pub(crate) async fn new_session(
    context: &Context,
    now: OffsetDateTime,
    browser: Browser,
    lifetime: Duration,
) -> Result<(NewSession, Remembered), StoreError> {
    let replaces = find_login(context, browser.login.as_ref()).await?.map(|session| session.id);
    let id = SessionId::at(now, context.entropy.bytes());
    let secret = Secret::with_id(id.as_uuid(), context.entropy.bytes());
    let secret_hash = SecretHash::of(&secret);
    let session = NewSession { id, secret_hash, browser: browser.name, expires_at: now + lifetime, replaces };
    Ok((session, Remembered { secret, lifetime }))
}

/// Why a person cannot use their account.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// No one is signed in on this browser.
    #[error("no one is signed in")]
    SignedOut,
    /// The last signature is too old for what was asked.
    #[error("sign-in is too old")]
    SignedInLongAgo,
    /// The account could not be read or changed.
    #[error("account could not be read or changed")]
    Store(#[from] StoreError),
}

/// The session of a person who asks about their account.
pub(crate) async fn require_login(
    context: &Context,
    browser: &Browser,
) -> Result<LoginSession, AccountError> {
    find_login(context, browser.login.as_ref()).await?.ok_or(AccountError::SignedOut)
}

/// The session of a person who asks for something sensitive. It is not enough that the browser remembers
/// them: their wallet must have signed recently.
pub(crate) async fn require_recent_login(
    context: &Context,
    browser: &Browser,
) -> Result<LoginSession, AccountError> {
    let session = require_login(context, browser).await?;
    if is_recent(&session, context.clock.now()) { Ok(session) } else { Err(AccountError::SignedInLongAgo) }
}

/// Did the wallet sign recently?
pub(crate) fn is_recent(session: &LoginSession, now: OffsetDateTime) -> bool {
    now < session.authenticated_at + Lifetimes::RECENT
}
