//! Turns a refusal into a status, headers and a body. No other module knows both sides.

use std::error::Error;
use std::fmt;

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use countersign_domain::client_document::DocumentUrl;
use countersign_domain::error::{OAuthError, OAuthErrorCode as Code, Reason};
use countersign_domain::id::ClientId;
use countersign_domain::refusal::RefusedFor;
use countersign_domain::wallet::{AccountName, WalletAccount};
use countersign_ports::WalletVerifier;
use countersign_usecases::Refuse;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

/// How many seconds clients should wait before they try again when the store is unavailable.
const RETRY_AFTER_UNAVAILABLE: &str = "2";

/// The longest name of a client that the log repeats.
const MAX_DOCUMENT: usize = 200;

/// A refusal that will be sent. The edge logs it once, and turns it into a page for browsers.
#[derive(Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub error: OAuthError,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Always a page, whatever the client accepts, because the endpoint is for people.
    pub(crate) always_page: bool,
    /// Only for the operator's log. Clients never see it.
    pub(crate) cause: Option<Box<dyn Error>>,
    /// The client and wallet that the request named, for the log.
    pub(crate) about: About,
}

/// The client and wallet that a refused request named, so that a complaint is found in the log. None of it is
/// proven.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// The client.
    pub(crate) client: Option<Box<str>>,
    /// The wallet. If its address could mean several accounts, the first of them.
    pub(crate) wallet: Option<Box<WalletAccount>>,
}

impl About {
    /// The client that a request names. What cannot be a client's id is left out: it may be anything, also a
    /// secret in the wrong field.
    pub(crate) fn client(named: &str) -> Self {
        let is_id = ClientId::parse(named).is_some()
            || (named.len() <= MAX_DOCUMENT && DocumentUrl::parse(named, true).is_some());
        Self { client: is_id.then(|| named.into()), wallet: None }
    }

    /// The wallet that a request names, if it is one. Anything else is left out, for the same reason.
    pub(crate) fn wallet(self, wallets: &dyn WalletVerifier, named: &str) -> Self {
        let name = AccountName::read(named, None);
        let accounts = name.map_or_else(|_| Vec::new(), |name| wallets.recognize(name.address, name.chain));
        Self { wallet: accounts.into_iter().next().map(|found| Box::new(found.account)), ..self }
    }
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
    pub fn new(code: Code, description: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::from_error(OAuthError::new(code, description))
    }

    pub(crate) fn because(code: Code, reason: Reason) -> Self {
        Self::from_error(OAuthError::because(code, reason))
    }

    pub(crate) fn from_error(error: OAuthError) -> Self {
        let status = status_of(error.code);
        let mut this = Self {
            status,
            error,
            headers: Vec::new(),
            always_page: false,
            cause: None,
            about: About::default(),
        };
        if status == StatusCode::SERVICE_UNAVAILABLE {
            this.headers.push((header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_UNAVAILABLE)));
        }
        this
    }

    pub fn invalid_request(description: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidRequest, description)
    }

    pub(crate) fn missing_session() -> Self {
        Self::because(Code::InvalidRequest, Reason::MissingSession)
    }

    pub fn not_found() -> Self {
        Self::invalid_request("there is nothing at this path")
            .logged_as(RefusedFor::NoSuchPage)
            .with_status(StatusCode::NOT_FOUND)
    }

    pub fn method_not_allowed(allow: &'static str) -> Self {
        Self::invalid_request("this path does not take this method")
            .logged_as(RefusedFor::NoSuchPage)
            .with_status(StatusCode::METHOD_NOT_ALLOWED)
            .with_header(header::ALLOW, HeaderValue::from_static(allow))
    }

    pub(crate) fn too_many_requests(seconds: u64) -> Self {
        Self::new(Code::TemporarilyUnavailable, format!("too many requests; try again in {seconds} s"))
            .logged_as(RefusedFor::RateLimit)
            .with_status(StatusCode::TOO_MANY_REQUESTS)
            .with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    pub fn server_error(cause: impl Error + 'static) -> Self {
        let mut this = Self::new(Code::ServerError, "something went wrong on our side");
        this.cause = Some(Box::new(cause));
        this
    }

    pub(crate) fn not_now(cause: impl Error + 'static) -> Self {
        let mut this = Self::new(Code::TemporarilyUnavailable, "the server cannot answer now; try again");
        this.cause = Some(Box::new(cause));
        this
    }

    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The same error under another name in the log.
    pub fn logged_as(self, refused_for: RefusedFor) -> Self {
        Self { error: self.error.logged_as(refused_for), ..self }
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

    pub(crate) fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }

    /// What the log says of why: the failure and what led to it.
    pub fn why(&self) -> String {
        self.cause.as_deref().map(chain).unwrap_or_default()
    }

    pub(crate) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
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
        Code::ForeignOrigin | Code::InsufficientScope | Code::NotAdmitted => StatusCode::FORBIDDEN,
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
