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
    /// No client has the id that the request names.
    UnknownClient,
    /// The client did not register this redirect URI.
    RedirectUri,
    /// The client asks for a scope or a resource that it cannot have.
    Scope,
    /// A page of another site caused the request, or the form is from an older page.
    ForeignPage,
    /// The person said no, or the client forbids asking the person.
    Declined,
    /// Nothing is wrong: the client has to ask again, later or with what the answer gave it.
    Pending,
    /// What a client registers cannot be registered.
    Registration,
    /// A DPoP proof is missing or not valid.
    Proof,
    /// The client may not do this, or the server does not.
    Unsupported,
    /// There is nothing at this path, or it does not take this method.
    NoSuchPage,
    /// A parameter, a field or a header is missing, wrong or too long.
    Request,
    /// What a request builds on changed meanwhile.
    Conflict,
    /// Everything else that a request can get wrong.
    Other,
    /// The failure is on our side.
    Failure,
}

impl RefusedFor {
    /// All of them, in the order of the variants.
    pub const ALL: [Self; 24] = [
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
        Self::UnknownClient,
        Self::RedirectUri,
        Self::Scope,
        Self::ForeignPage,
        Self::Declined,
        Self::Pending,
        Self::Registration,
        Self::Proof,
        Self::Unsupported,
        Self::NoSuchPage,
        Self::Request,
        Self::Conflict,
        Self::Other,
        Self::Failure,
    ];

    /// Reads the word in the log and in the metrics.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

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
            Self::UnknownClient => "unknown_client",
            Self::RedirectUri => "redirect_uri",
            Self::Scope => "scope",
            Self::ForeignPage => "foreign_page",
            Self::Declined => "declined",
            Self::Pending => "pending",
            Self::Registration => "registration",
            Self::Proof => "proof",
            Self::Unsupported => "unsupported",
            Self::NoSuchPage => "no_such_page",
            Self::Request => "request",
            Self::Conflict => "conflict",
            Self::Other => "other",
            Self::Failure => "failure",
        }
    }
}
