//! What the outside is told when something is refused: a registered code and a sentence.

use std::borrow::Cow;

/// A refusal with one of the specification's fixed messages (its sections 4 and 7), and with a page that tells a person what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The client is not registered.
    UnknownClient,
    /// The redirect URI is missing or not registered for the client.
    RedirectUri,
    /// No session, or none with such a request.
    MissingSession,
    /// The signature does not verify.
    Signature,
    /// The challenge is not ours, not for this, too old, or used.
    Challenge,
    /// The form does not carry the secret of a page that this browser was shown.
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

/// Why something was refused. Some codes of the wire stand here twice, because they come with two statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OAuthErrorCode {
    /// RFC 6749: malformed.
    InvalidRequest,
    /// `invalid_request` at the token endpoint: the form lacks a field, or is none (the specification's 422).
    IncompleteForm,
    /// `invalid_request` from a page of another site.
    ForeignOrigin,
    /// `invalid_request` that what is stored stands against.
    Conflict,
    /// RFC 6749: client authentication failed.
    InvalidClient,
    /// `invalid_client` where no authentication was asked for: the client is not registered.
    UnknownClient,
    /// RFC 6749: the client may not do this.
    UnauthorizedClient,
    /// RFC 6749: code or refresh token is not good.
    InvalidGrant,
    /// RFC 6749: scope unknown or not allowed.
    InvalidScope,
    /// RFC 6749: grant type not offered.
    UnsupportedGrantType,
    /// RFC 6749: response type not offered.
    UnsupportedResponseType,
    /// RFC 6749: the person said no, or could not prove the wallet.
    AccessDenied,
    /// OpenID Connect: nobody is signed in, and asking was forbidden.
    LoginRequired,
    /// OpenID Connect: somebody is signed in and would have to agree, and asking was forbidden.
    ConsentRequired,
    /// RFC 8707: the resource is none that tokens are issued for.
    InvalidTarget,
    /// OpenID Connect: request objects are not offered.
    RequestNotSupported,
    /// OpenID Connect: request objects by reference are not offered.
    RequestUriNotSupported,
    /// RFC 9101: the pushed request is not there (any more), or not this client's.
    InvalidRequestUri,
    /// RFC 8628: nobody has answered the device yet.
    AuthorizationPending,
    /// RFC 8628: the same, and the device asks too often.
    SlowDown,
    /// RFC 8628: nobody answered the device in time.
    ExpiredToken,
    /// `access_denied` at the token endpoint: the person told the device no.
    DeviceDenied,
    /// RFC 9449: the proof of a key is not good, or missing where a bound token came.
    InvalidDpopProof,
    /// RFC 9449: the proof of a key needs a nonce of ours that is new.
    UseDpopNonce,
    /// RFC 6750: the access token is not good.
    InvalidToken,
    /// RFC 6750: the access token does not reach so far.
    InsufficientScope,
    /// RFC 7591: a redirect URI cannot be registered.
    InvalidRedirectUri,
    /// RFC 7591: other metadata cannot be registered.
    InvalidClientMetadata,
    /// RFC 6749: something of ours broke.
    ServerError,
    /// RFC 6749: come back later.
    TemporarilyUnavailable,
}

impl OAuthErrorCode {
    /// The registered code.
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
            Self::AccessDenied | Self::DeviceDenied => "access_denied",
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

/// A refusal as the outside sees it. The description holds no secret and nothing of the inside.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {description}", code.name())]
pub struct OAuthError {
    /// Why.
    pub code: OAuthErrorCode,
    /// A sentence for the client's developer.
    pub description: Cow<'static, str>,
    /// Which of the fixed messages the sentence is, if it is one.
    pub reason: Option<Reason>,
}

impl OAuthError {
    /// Pairs a code with a sentence. Characters that RFC 6749 does not allow in a description are replaced.
    pub fn new(code: OAuthErrorCode, description: impl Into<Cow<'static, str>>) -> Self {
        let description = description.into();
        let allowed = |character: char| matches!(character, ' '..='~') && !matches!(character, '"' | '\\');
        if description.chars().all(allowed) {
            return Self { code, description, reason: None };
        }
        let cleaned = description.chars().map(|character| if allowed(character) { character } else { '?' });
        Self { code, description: Cow::Owned(cleaned.collect()), reason: None }
    }

    /// Pairs a code with a fixed message.
    pub const fn because(code: OAuthErrorCode, reason: Reason) -> Self {
        Self { code, description: Cow::Borrowed(reason.message()), reason: Some(reason) }
    }
}
