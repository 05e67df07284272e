//! Turns a refusal into a status, headers and a body. No other module knows both sides.

use std::error::Error;
use std::fmt;

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use countersign_domain::error::{OAuthError, OAuthErrorCode as Code, Reason};
use countersign_usecases::Refuse;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

/// How many seconds clients should wait before they try again when the store is unavailable.
const RETRY_AFTER_UNAVAILABLE: &str = "2";

/// A refusal that will be sent. The edge logs it once, and turns it into a page for browsers.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) error: OAuthError,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Always a page, whatever the client accepts, because the endpoint is for people.
    pub(crate) always_page: bool,
    /// Only for the operator's log. Clients never see it.
    pub(crate) cause: Option<Box<dyn Error>>,
}

/// The body of every error.
#[derive(Serialize, Apiv2Schema)]
pub(crate) struct ErrorBody<'a> {
    /// A registered code.
    error: &'a str,
    /// A sentence for the client's developer.
    error_description: &'a str,
}

impl ApiError {
    pub(crate) fn new(code: Code, description: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::from_error(OAuthError::new(code, description))
    }

    pub(crate) fn because(code: Code, reason: Reason) -> Self {
        Self::from_error(OAuthError::because(code, reason))
    }

    pub(crate) fn from_error(error: OAuthError) -> Self {
        let status = status_of(error.code);
        let mut this = Self { status, error, headers: Vec::new(), always_page: false, cause: None };
        if status == StatusCode::SERVICE_UNAVAILABLE {
            this.headers.push((header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_UNAVAILABLE)));
        }
        this
    }

    pub(crate) fn invalid_request(description: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidRequest, description)
    }

    pub(crate) fn missing_session() -> Self {
        Self::because(Code::InvalidRequest, Reason::MissingSession)
    }

    pub(crate) fn not_found() -> Self {
        Self::invalid_request("there is nothing at this path").with_status(StatusCode::NOT_FOUND)
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        Self::invalid_request("this path does not take this method")
            .with_status(StatusCode::METHOD_NOT_ALLOWED)
            .with_header(header::ALLOW, HeaderValue::from_static(allow))
    }

    pub(crate) fn too_many_requests(seconds: u64) -> Self {
        Self::new(Code::TemporarilyUnavailable, format!("too many requests; try again in {seconds} s"))
            .with_status(StatusCode::TOO_MANY_REQUESTS)
            .with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    pub(crate) fn server_error(cause: impl Error + 'static) -> Self {
        let mut this = Self::new(Code::ServerError, "something went wrong on our side");
        this.cause = Some(Box::new(cause));
        this
    }

    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.retain(|(present, _)| *present != name);
        self.headers.push((name, value));
        self
    }

    pub(crate) const fn always_as_page(mut self) -> Self {
        self.always_page = true;
        self
    }

    pub(crate) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }
}

/// Every error of a use-case decides itself what clients learn about it.
impl<E: Refuse> From<E> for ApiError {
    fn from(failure: E) -> Self {
        let mut this = Self::from_error(failure.refusal());
        this.cause = Some(Box::new(failure));
        this
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse<BoxBody> {
        let mut response = HttpResponse::build(self.status);
        for (name, value) in &self.headers {
            response.insert_header((name, value));
        }
        response.json(ErrorBody { error: self.error.code.name(), error_description: &self.error.description })
    }
}

const fn status_of(code: Code) -> StatusCode {
    match code {
        Code::IncompleteForm => StatusCode::UNPROCESSABLE_ENTITY,
        Code::Conflict => StatusCode::CONFLICT,
        Code::ForeignOrigin | Code::InsufficientScope => StatusCode::FORBIDDEN,
        Code::InvalidClient | Code::AccessDenied | Code::InvalidToken => StatusCode::UNAUTHORIZED,
        Code::ServerError => StatusCode::INTERNAL_SERVER_ERROR,
        Code::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::InvalidRequest
        | Code::InvalidDpopProof
        | Code::UseDpopNonce
        | Code::UnknownClient
        | Code::UnauthorizedClient
        | Code::InvalidGrant
        | Code::InvalidScope
        | Code::UnsupportedGrantType
        | Code::UnsupportedResponseType
        | Code::LoginRequired
        | Code::ConsentRequired
        | Code::InvalidTarget
        | Code::RequestNotSupported
        | Code::RequestUriNotSupported
        | Code::InvalidRequestUri
        | Code::AuthorizationPending
        | Code::SlowDown
        | Code::ExpiredToken
        | Code::DeviceDenied
        | Code::InvalidRedirectUri
        | Code::InvalidClientMetadata => StatusCode::BAD_REQUEST,
    }
}
