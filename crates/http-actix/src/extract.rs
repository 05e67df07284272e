//! Reads requests: bodies with limits, forms and JSON whose errors name the field, tokens, the texts of
//! headers and queries, and the site that a request comes from.

pub(crate) mod accept;
pub(crate) mod bearer;
pub mod body;
pub(crate) mod origin;
pub mod request_id;
pub mod shown_path;

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::http::header::{AsHeaderName, HeaderMap};

use crate::error::ApiError;

/// The text of a header. `None` if it is missing or is not text.
pub(crate) fn header_text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// The value of a parameter in the query. It is an error if there is more than one.
pub(crate) fn query_value<'a>(
    request: &'a HttpRequest,
    name: &'static str,
) -> Result<Option<Cow<'a, str>>, ApiError> {
    let query = url::form_urlencoded::parse(request.query_string().as_bytes());
    let mut values = query.filter(|(found, _)| found == name).map(|(_, value)| value);
    let first = values.next();
    if values.next().is_some() {
        return Err(ApiError::invalid_request(format!("{name} is given more than once")));
    }
    Ok(first)
}
