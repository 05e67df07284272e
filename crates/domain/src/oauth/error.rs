//! What a client gets when something is refused: a registered error code and a sentence.

use std::borrow::Cow;

use crate::refusal::RefusedFor;

/// A refusal with a message that the specification fixes (sections 4 and 7), and with a page that says what
/// to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The client is not registered.
    UnknownClient,
    /// The redirect URI is missing or not registered for the client.
    RedirectUri,
    /// There is no session, or it has no such request.
    MissingSession,
    /// The signature is not valid.
    Signature,
    /// The challenge is not one of ours, belongs to something else, has expired, or was used before.
    Challenge,
    /// The form lacks the secret of a page that this browser was shown.
    ForeignForm,
}

impl Reason {
    /// The message, to the letter.
    pub const fn message(self) -> &'static str {
        match self {
            Self::UnknownClient => "Invalid client_id",
            Self::RedirectUri => "Invalid redirect_uri",
            Self::MissingSession => "Missing or expired OAuth session",
            Self::Signature => "Failed to verify signature",
            Self::Challenge => "Challenge is not valid or has expired",
            Self::ForeignForm => "this form is not from a page of this browser session: load the page again",
        }
    }
}

/// What everyone hears whose client is not believed, whatever is wrong.
pub const CLIENT_NOT_BELIEVED: &str = "client authentication failed: check client_id and its secret or assertion, and \
                                       send them in the way that the client registered";

/// Why something was refused. Some wire codes have several variants here, because they come with different
/// statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OAuthErrorCode {
    /// RFC 6749: the request is malformed.
    InvalidRequest,
    /// `invalid_request` at the token endpoint: the form lacks a field, or the body is not a form (the
    /// specification's 422).
    IncompleteForm,
    /// `invalid_request`: the request comes from a page of another site.
    ForeignOrigin,
    /// `invalid_request`: the request conflicts with what is stored.
    Conflict,
    /// RFC 6749: client authentication failed.
    InvalidClient,
    /// `invalid_client` where no authentication is required: the client is not registered.
    UnknownClient,
    /// RFC 6749: the client may not do this.
    UnauthorizedClient,
    /// RFC 6749: the code or refresh token is not valid.
    InvalidGrant,
    /// RFC 6749: a scope is unknown or not allowed.
    InvalidScope,
    /// RFC 6749: the grant type is not supported.
    UnsupportedGrantType,
    /// RFC 6749: the response type is not supported.
    UnsupportedResponseType,
    /// RFC 6749: the person refused, or could not prove the wallet.
    AccessDenied,
    /// `access_denied` after the person proved the wallet: the operator does not let them in.
    NotAdmitted,
    /// OpenID Connect: no one is signed in, and the request forbids asking.
    LoginRequired,
    /// OpenID Connect: someone is signed in and would have to agree, but the request forbids asking.
    ConsentRequired,
    /// RFC 8707: no tokens are issued for this resource.
    InvalidTarget,
    /// OpenID Connect: request objects are not supported.
    RequestNotSupported,
    /// OpenID Connect: request objects by reference are not supported.
    RequestUriNotSupported,
    /// RFC 9101: the pushed request does not exist, is gone, or belongs to another client.
    InvalidRequestUri,
    /// RFC 8628: no one has answered the device's request yet.
    AuthorizationPending,
    /// RFC 8628: the same, and the device polls too often.
    SlowDown,
    /// RFC 8628: no one answered the device's request in time.
    ExpiredToken,
    /// `access_denied` at the token endpoint: the person denied the device's request.
    DeviceDenied,
    /// RFC 9449: the DPoP proof is not valid, or is missing although the token is bound to a key.
    InvalidDpopProof,
    /// RFC 9449: the DPoP proof needs a new nonce from us.
    UseDpopNonce,
    /// RFC 6750: the access token is not valid.
    InvalidToken,
    /// RFC 6750: the access token lacks a required scope.
    InsufficientScope,
    /// RFC 7591: a redirect URI cannot be registered.
    InvalidRedirectUri,
    /// RFC 7591: some other metadata cannot be registered.
    InvalidClientMetadata,
    /// RFC 6749: something failed on our side.
    ServerError,
    /// RFC 6749: the server cannot answer now; try again later.
    TemporarilyUnavailable,
}

impl OAuthErrorCode {
    /// The registered error code.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest | Self::IncompleteForm | Self::ForeignOrigin | Self::Conflict => {
                "invalid_request"
            }
            Self::InvalidClient | Self::UnknownClient => "invalid_client",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidScope => "invalid_scope",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::AccessDenied | Self::NotAdmitted | Self::DeviceDenied => "access_denied",
            Self::LoginRequired => "login_required",
            Self::ConsentRequired => "consent_required",
            Self::InvalidTarget => "invalid_target",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
            Self::InvalidRequestUri => "invalid_request_uri",
            Self::AuthorizationPending => "authorization_pending",
            Self::SlowDown => "slow_down",
            Self::ExpiredToken => "expired_token",
            Self::InvalidDpopProof => "invalid_dpop_proof",
            Self::UseDpopNonce => "use_dpop_nonce",
            Self::InvalidToken => "invalid_token",
            Self::InsufficientScope => "insufficient_scope",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::ServerError => "server_error",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
        }
    }
}

/// A refusal as clients see it. The description contains no secrets and no internals.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {description}", code.name())]
pub struct OAuthError {
    /// The error code.
    pub code: OAuthErrorCode,
    /// A sentence for the client's developer.
    pub description: Cow<'static, str>,
    /// Which of the fixed messages the sentence is, if it is one.
    pub reason: Option<Reason>,
    /// What the log and the metrics call it.
    pub refused_for: RefusedFor,
}

impl OAuthError {
    /// Pairs a code with a sentence. Characters that RFC 6749 does not allow in `error_description` are
    /// replaced.
    pub fn new(code: OAuthErrorCode, description: impl Into<Cow<'static, str>>) -> Self {
        let description = description.into();
        let allowed = |character: char| matches!(character, ' '..='~') && !matches!(character, '"' | '\\');
        if description.chars().all(allowed) {
            return Self { code, description, reason: None, refused_for: refused_for(code) };
        }
        let cleaned = description.chars().map(|character| if allowed(character) { character } else { '?' });
        let description = Cow::Owned(cleaned.collect());
        Self { code, description, reason: None, refused_for: refused_for(code) }
    }

    /// Pairs a code with a fixed message, and says after it what exactly is wrong.
    pub fn explained(code: OAuthErrorCode, reason: Reason, explanation: &str) -> Self {
        Self { reason: Some(reason), ..Self::new(code, format!("{}: {explanation}", reason.message())) }
    }

    /// Pairs a code with a fixed message.
    pub const fn because(code: OAuthErrorCode, reason: Reason) -> Self {
        let refused_for = match reason {
            Reason::Signature => RefusedFor::Signature,
            Reason::MissingSession | Reason::Challenge => RefusedFor::Ended,
            Reason::RedirectUri => RefusedFor::RedirectUri,
            Reason::ForeignForm => RefusedFor::ForeignPage,
            Reason::UnknownClient => refused_for(code),
        };
        Self { code, description: Cow::Borrowed(reason.message()), reason: Some(reason), refused_for }
    }

    /// The same error under another name in the log.
    #[must_use]
    pub fn logged_as(self, refused_for: RefusedFor) -> Self {
        Self { refused_for, ..self }
    }
}

/// What the log calls an error with this code, unless a better one is given.
const fn refused_for(code: OAuthErrorCode) -> RefusedFor {
    match code {
        OAuthErrorCode::InvalidClient => RefusedFor::ClientAuthentication,
        OAuthErrorCode::NotAdmitted => RefusedFor::NotAdmitted,
        OAuthErrorCode::InvalidToken | OAuthErrorCode::ExpiredToken | OAuthErrorCode::InvalidRequestUri => {
            RefusedFor::Ended
        }
        OAuthErrorCode::UnknownClient => RefusedFor::UnknownClient,
        OAuthErrorCode::InvalidScope | OAuthErrorCode::InvalidTarget => RefusedFor::Scope,
        OAuthErrorCode::ForeignOrigin => RefusedFor::ForeignPage,
        OAuthErrorCode::AccessDenied
        | OAuthErrorCode::DeviceDenied
        | OAuthErrorCode::LoginRequired
        | OAuthErrorCode::ConsentRequired => RefusedFor::Declined,
        OAuthErrorCode::AuthorizationPending | OAuthErrorCode::SlowDown | OAuthErrorCode::UseDpopNonce => {
            RefusedFor::Pending
        }
        OAuthErrorCode::InvalidRedirectUri | OAuthErrorCode::InvalidClientMetadata => {
            RefusedFor::Registration
        }
        OAuthErrorCode::InvalidDpopProof => RefusedFor::Proof,
        OAuthErrorCode::UnauthorizedClient
        | OAuthErrorCode::UnsupportedGrantType
        | OAuthErrorCode::UnsupportedResponseType
        | OAuthErrorCode::RequestNotSupported
        | OAuthErrorCode::RequestUriNotSupported
        | OAuthErrorCode::InsufficientScope => RefusedFor::Unsupported,
        OAuthErrorCode::InvalidRequest | OAuthErrorCode::IncompleteForm => RefusedFor::Request,
        OAuthErrorCode::Conflict => RefusedFor::Conflict,
        OAuthErrorCode::ServerError | OAuthErrorCode::TemporarilyUnavailable => RefusedFor::Failure,
        OAuthErrorCode::InvalidGrant => RefusedFor::Other,
    }
}
