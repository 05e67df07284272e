//! Tokens in the `Authorization` header: bearer tokens (RFC 6750 section 2), and tokens with a DPoP proof
//! (RFC 9449 section 7).

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderValue};
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::secret::Secret;

use crate::error::ApiError;

/// The challenge of RFC 6750, without an error code.
pub(crate) const SCHEME: &str = "Bearer realm=\"countersign\"";

/// How a token is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Without a proof.
    Bearer,
    /// With a proof of its key.
    Dpop,
}

/// The bearer token of the `Authorization` header; `None` without one.
pub(crate) fn from_header(request: &HttpRequest) -> Result<Option<Secret>, ApiError> {
    Ok(presented(request)?.filter(|(scheme, _)| *scheme == Scheme::Bearer).map(|(_, token)| token))
}

/// The token of the `Authorization` header, and how it is presented; `None` without one.
pub(crate) fn presented(request: &HttpRequest) -> Result<Option<(Scheme, Secret)>, ApiError> {
    let mut headers = request.headers().get_all(header::AUTHORIZATION);
    let Some(value) = headers.next() else { return Ok(None) };
    if headers.next().is_some() {
        return Err(challenge(ApiError::invalid_request("the Authorization header is given more than once")));
    }
    // A header has no control characters, so this is the same as `to_str`, in bigger steps.
    let text = str::from_utf8(value.as_bytes()).ok().filter(|text| text.is_ascii()).unwrap_or_default();
    let Some((scheme, token)) = text.split_once(' ') else { return Ok(None) };
    let known = [("bearer", Scheme::Bearer), ("dpop", Scheme::Dpop)];
    let found = known.into_iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name));
    Ok(found.filter(|_| !token.is_empty()).map(|(_, scheme)| (scheme, Secret::new(token))))
}

/// The error for a request without a token. Its challenge has no error code (RFC 6750 section 3.1).
pub(crate) fn missing() -> ApiError {
    ApiError::new(OAuthErrorCode::InvalidToken, "an access token is needed")
        .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static(SCHEME))
}

/// Adds the challenge of RFC 6750 to a refusal.
pub(crate) fn challenge(error: ApiError) -> ApiError {
    challenge_by(SCHEME, error)
}

/// Like [`challenge`], but for another scheme.
pub(crate) fn challenge_by(scheme: &str, error: ApiError) -> ApiError {
    let code = error.error.code;
    let scope = if code == OAuthErrorCode::InsufficientScope { ", scope=\"profile\"" } else { "" };
    let text = format!(
        "{scheme}, error=\"{}\", error_description=\"{}\"{scope}",
        code.name(),
        error.error.description
    );
    match HeaderValue::from_str(&text) {
        Ok(value) => error.with_header(header::WWW_AUTHENTICATE, value),
        Err(_) => error,
    }
}
