//! Reading requests: bodies with limits, forms and JSON whose errors name the field, credentials, texts of headers and queries.

pub(crate) mod bearer;
pub(crate) mod body;
pub(crate) mod client_credentials;
pub(crate) mod dpop;

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::http::header::{AsHeaderName, HeaderMap};

/// The text of a header; nothing where it is missing or no text.
pub(crate) fn header_text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// The first value of a name in the query.
pub(crate) fn query_value<'a>(request: &'a HttpRequest, name: &str) -> Option<Cow<'a, str>> {
    let mut query = url::form_urlencoded::parse(request.query_string().as_bytes());
    query.find(|(found, _)| found == name).map(|(_, value)| value)
}
