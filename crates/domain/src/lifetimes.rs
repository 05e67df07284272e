//! How long things live.

use time::Duration;

/// The lifetimes that an operator may set, and those that nobody may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// Access tokens.
    pub access_token: Duration,
    /// Refresh tokens, from their last use.
    pub refresh_token: Duration,
    /// Codes.
    pub code: Duration,
    /// Challenges.
    pub challenge: Duration,
    /// Pending authorizations.
    pub session: Duration,
    /// Remembered sign-ins; zero where none is remembered.
    pub login_session: Duration,
    /// How long a rotated refresh token of a client with a secret may come again while its successor is unused.
    pub confidential_grace: Duration,
    /// The same for public clients.
    pub public_grace: Duration,
}

impl Lifetimes {
    /// However often it is refreshed, a family ends after this time (P-12).
    pub const FAMILY: Duration = Duration::days(365);

    /// How long the link in a mail confirms an address.
    pub const EMAIL_CONFIRMATION: Duration = Duration::hours(24);

    /// A sign-in that is older than this does not delete an account, change its e-mail address or download what is in it.
    pub const RECENT: Duration = Duration::minutes(10);
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            access_token: Duration::hours(1),
            refresh_token: Duration::days(30),
            code: Duration::seconds(60),
            challenge: Duration::minutes(5),
            session: Duration::minutes(30),
            login_session: Duration::hours(24),
            confidential_grace: Duration::ZERO,
            public_grace: Duration::seconds(10),
        }
    }
}
