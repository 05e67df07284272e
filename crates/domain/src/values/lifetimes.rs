//! How long codes, tokens and sign-ins last.

use time::Duration;

/// The lifetimes that an operator can set, and the fixed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// The lifetime of an access token.
    pub access_token: Duration,
    /// The lifetime of a refresh token, counted from its last use.
    pub refresh_token: Duration,
    /// The lifetime of an authorization code.
    pub code: Duration,
    /// The lifetime of a challenge.
    pub challenge: Duration,
    /// The lifetime of a pending authorization.
    pub session: Duration,
    /// The lifetime of a remembered sign-in; zero if none are remembered.
    pub login_session: Duration,
    /// For clients with a secret: how long a rotated refresh token is still accepted while its successor is
    /// unused.
    pub confidential_grace: Duration,
    /// The same for public clients.
    pub public_grace: Duration,
}

impl Lifetimes {
    /// A token family ends after this time, however often it is refreshed (P-12).
    pub const FAMILY: Duration = Duration::days(365);

    /// How long the link in a mail can confirm an address.
    pub const EMAIL_CONFIRMATION: Duration = Duration::hours(24);

    /// Only a sign-in that is younger than this can delete the account, change its e-mail address or download
    /// its data.
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
