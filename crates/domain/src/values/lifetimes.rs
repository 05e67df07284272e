//! How long codes, tokens and sign-ins last.

use time::{Duration, OffsetDateTime};

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
    /// What a client can have of its own at most.
    pub longest: Longest,
}

/// The longest lifetimes that an operator can give to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Longest {
    /// Of its access tokens.
    pub access_token: Duration,
    /// Of its refresh tokens. So long after a sign-in, no client can refresh.
    pub refresh_token: Duration,
}

/// The shortest lifetime that an operator can give to a client.
pub const SHORTEST: Duration = Duration::minutes(1);

/// The lifetimes of a client's tokens: its own, or those of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenLifetimes {
    /// Of access tokens and ID tokens.
    pub access_token: Duration,
    /// From the sign-in on, of all refresh tokens.
    pub refresh_token: Duration,
    /// Of a refresh token that is not used.
    pub idle: Duration,
}

impl TokenLifetimes {
    /// When an access token ends that was issued at this time.
    pub fn access_ends(&self, issued_at: OffsetDateTime) -> OffsetDateTime {
        issued_at + self.access_token
    }

    /// How long access tokens are valid, in seconds.
    pub const fn access_seconds(&self) -> i64 {
        self.access_token.whole_seconds()
    }

    /// When a refresh token ends that was issued at this time, after a sign-in at that time.
    pub fn refresh_ends(
        &self,
        issued_at: OffsetDateTime,
        authenticated_at: OffsetDateTime,
    ) -> OffsetDateTime {
        (issued_at + self.idle).min(authenticated_at + self.refresh_token)
    }
}

impl Lifetimes {
    /// A token family ends after this time at the latest, however often it is refreshed (P-12).
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
            longest: Longest::USUAL,
        }
    }
}

impl Longest {
    /// Those of the settings' defaults.
    pub const USUAL: Self = Self { access_token: Duration::days(1), refresh_token: Lifetimes::FAMILY };
}
