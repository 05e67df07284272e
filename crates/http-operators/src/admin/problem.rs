//! What went wrong, as a problem document (RFC 9457).

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use countersign_ports::StoreError;
use paperclip::actix::Apiv2Schema;
use serde::Serialize;

use countersign_http_actix::error::ApiError;

use super::schemas::Schema;

/// The media type of problem documents.
pub(crate) const PROBLEM: &str = "application/problem+json";

/// What a name of a problem begins with.
const PREFIX: &str = "urn:countersign:problem:";

/// What every operation can answer instead. No operation names it.
pub(super) const SCHEMA: Schema = Schema::of::<ProblemBody>("Problem");

/// A refusal that will be sent.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) detail: Cow<'static, str>,
    field: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Only for the operator's log.
    cause: Option<Box<dyn Error>>,
}

/// The body of every refusal.
#[derive(Serialize, Apiv2Schema)]
struct ProblemBody {
    /// What kind of problem it is, as a name that does not change.
    #[serde(rename = "type")]
    kind: String,
    /// The same for people.
    title: String,
    /// The status of the response.
    status: u16,
    /// What happened here.
    detail: String,
    /// The field, the parameter or the header that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
}

/// The name and the title of the problems with a status.
pub(crate) fn kind_of(status: StatusCode) -> (&'static str, &'static str) {
    match status {
        StatusCode::UNAUTHORIZED => ("unauthorized", "A good admin key is needed"),
        StatusCode::FORBIDDEN => ("forbidden", "The admin key has not the scope for this"),
        StatusCode::NOT_FOUND => ("not-found", "There is no such thing"),
        StatusCode::METHOD_NOT_ALLOWED => ("method-not-allowed", "This path does not take this method"),
        StatusCode::REQUEST_TIMEOUT => ("too-slow", "The request did not arrive in time"),
        StatusCode::CONFLICT => ("conflict", "This cannot be done as things are"),
        StatusCode::PRECONDITION_FAILED => ("changed-meanwhile", "It is no longer as it was read"),
        StatusCode::PAYLOAD_TOO_LARGE => ("too-large", "The body is too long"),
        StatusCode::URI_TOO_LONG => ("address-too-long", "The address is too long"),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ("not-json", "The body must be JSON as it is"),
        StatusCode::UNPROCESSABLE_ENTITY => ("asked-otherwise", "The idempotency key was used before"),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => ("headers-too-large", "The headers are too long"),
        StatusCode::SERVICE_UNAVAILABLE => ("unavailable", "The server cannot answer now"),
        StatusCode::INTERNAL_SERVER_ERROR => ("internal", "Something went wrong on our side"),
        _ => ("invalid", "The request is not valid"),
    }
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { status, detail: detail.into(), field: None, headers: Vec::new(), cause: None }
    }

    pub(crate) fn invalid(field: impl Into<String>, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail).about(field)
    }

    pub(crate) fn nothing_here() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is nothing at this path")
    }

    pub(crate) fn not_found(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn conflict(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    pub(crate) fn changed_meanwhile() -> Self {
        let detail = "it was changed or deleted since it was read: read it again, and decide again";
        Self::new(StatusCode::PRECONDITION_FAILED, detail).about("If-Match")
    }

    pub(crate) fn method_not_allowed(allow: &str) -> Self {
        let this = Self::new(StatusCode::METHOD_NOT_ALLOWED, "this path does not take this method");
        match HeaderValue::from_str(allow) {
            Ok(allow) => this.with(header::ALLOW, allow),
            Err(_) => this,
        }
    }

    pub(crate) fn internal(cause: impl Error + 'static) -> Self {
        let mut this = Self::new(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong on our side");
        this.cause = Some(Box::new(cause));
        this
    }

    pub(crate) fn about(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The name of the problem, without what all names begin with.
    pub(crate) fn kind(&self) -> &'static str {
        kind_of(self.status).0
    }

    /// What the log says of why: the failure and what led to it.
    pub(crate) fn why(&self) -> String {
        let mut text = String::new();
        let mut cause: Option<&dyn Error> = self.cause.as_deref();
        while let Some(error) = cause {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }

    /// What it is about, for the log.
    pub(crate) fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::Overloaded => {
                let text = "the server cannot answer now; try again";
                let mut this = Self::new(StatusCode::SERVICE_UNAVAILABLE, text);
                this.cause = Some(Box::new(error));
                this.with(header::RETRY_AFTER, HeaderValue::from_static("2"))
            }
            StoreError::Corrupt { .. } | StoreError::SignerSuspended | StoreError::Failed(_) => {
                Self::internal(error)
            }
        }
    }
}

/// What reads bodies and tokens refuses as the public endpoints do.
impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        Self::new(error.status, error.error.description)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse<BoxBody> {
        let (kind, title) = kind_of(self.status);
        let body = ProblemBody {
            kind: format!("{PREFIX}{kind}"),
            title: title.to_owned(),
            status: self.status.as_u16(),
            detail: self.detail.clone().into_owned(),
            field: self.field.clone(),
        };
        let mut response = HttpResponse::build(self.status);
        for (name, value) in &self.headers {
            response.insert_header((name, value));
        }
        response.content_type(PROBLEM).body(serde_json::to_string(&body).unwrap_or_default())
    }
}
