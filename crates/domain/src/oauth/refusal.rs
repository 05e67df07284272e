//! Why requests are refused, in the few words that the log and the metrics have for it.
//!
//! Clients never see these words: what they get is in [`crate::error`]. Operators' programs lean on them, so
//! a name never changes.

/// What was wrong with a refused request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedFor {
    /// A wallet's signature does not fit the text.
    Signature,
    /// A client did not prove who it is.
    ClientAuthentication,
    /// An authorization code or a device code is wrong, was used before, or came with the wrong redirect URI or
    /// `code_verifier`.
    Code,
    /// A person typed a device code that does not exist.
    UserCode,
    /// A refresh token is wrong, another client's, or was used before.
    RefreshToken,
    /// A token that registers or manages clients is wrong.
    RegistrationToken,
    /// One address, or all together, asked too often.
    RateLimit,
    /// The user or the wallet is blocked.
    Blocked,
    /// The client's rule does not let the user in.
    NotAdmitted,
    /// It was good once: a session, a text, a code or a token that expired or was revoked.
    Ended,
    /// Everything else that a request can get wrong.
    Other,
    /// The failure is on our side.
    Failure,
}

impl RefusedFor {
    /// All of them, in the order of the variants.
    pub const ALL: [Self; 12] = [
        Self::Signature,
        Self::ClientAuthentication,
        Self::Code,
        Self::UserCode,
        Self::RefreshToken,
        Self::RegistrationToken,
        Self::RateLimit,
        Self::Blocked,
        Self::NotAdmitted,
        Self::Ended,
        Self::Other,
        Self::Failure,
    ];

    /// The word in the log and in the metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Signature => "signature",
            Self::ClientAuthentication => "client_authentication",
            Self::Code => "code",
            Self::UserCode => "user_code",
            Self::RefreshToken => "refresh_token",
            Self::RegistrationToken => "registration_token",
            Self::RateLimit => "rate_limit",
            Self::Blocked => "blocked",
            Self::NotAdmitted => "not_admitted",
            Self::Ended => "ended",
            Self::Other => "other",
            Self::Failure => "failure",
        }
    }
}
