//! Client credentials: HTTP Basic or the body (RFC 6749 section 2.3.1).

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_domain::client_auth::ClientCredentials;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::redirect_uri::percent_escapes_are_whole;
use countersign_domain::secret::Secret;

use crate::error::ApiError;
use crate::rate_limit::Limited;
use crate::state::AppState;

/// Joins what the header and the body say about the client; `None` if neither names one.
pub(crate) fn join(
    request: &HttpRequest,
    client_id: Option<String>,
    client_secret: Option<Secret>,
) -> Result<Option<ClientCredentials>, ApiError> {
    let mut headers = request.headers().get_all(header::AUTHORIZATION);
    let Some(value) = headers.next() else {
        return Ok(client_id.map(|client_id| ClientCredentials { client_id, secret: client_secret }));
    };
    if headers.next().is_some() {
        return Err(ApiError::invalid_request("the Authorization header is given more than once"));
    }
    let basic = parse_basic(value).ok_or_else(|| {
        with_challenge(ApiError::new(OAuthErrorCode::InvalidClient, "client authentication failed"))
    })?;
    if client_secret.is_some() {
        return Err(ApiError::invalid_request("the client authenticates in two ways: use one"));
    }
    if client_id.is_some_and(|client_id| client_id != basic.client_id) {
        return Err(ApiError::invalid_request(
            "client_id differs between the Authorization header and the body",
        ));
    }
    Ok(Some(basic))
}

/// What a failed authentication is answered with: counted for its address, and with the challenge of the scheme
/// that was tried.
pub(crate) fn refuse(state: &AppState, request: &HttpRequest, error: ApiError) -> ApiError {
    if error.error.code != OAuthErrorCode::InvalidClient {
        return error;
    }
    if let Err(too_many) = state.rate_limits.check(Limited::FailedClientAuthentication, request) {
        return too_many;
    }
    if request.headers().contains_key(header::AUTHORIZATION) { with_challenge(error) } else { error }
}

fn with_challenge(error: ApiError) -> ApiError {
    let challenge = HeaderValue::from_static("Basic realm=\"countersign\", charset=\"UTF-8\"");
    error.with_header(header::WWW_AUTHENTICATE, challenge)
}

/// Both halves are form-encoded before base64; our own ids and secrets look the same either way.
fn parse_basic(value: &HeaderValue) -> Option<ClientCredentials> {
    let (scheme, encoded) = value.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    let client_id = form_decode(id)?;
    let secret = Secret::new(form_decode(secret)?);
    (!client_id.is_empty())
        .then(|| ClientCredentials { client_id, secret: Some(secret).filter(|s| !s.is_empty()) })
}

fn form_decode(text: &str) -> Option<String> {
    if !percent_escapes_are_whole(text) {
        return None;
    }
    let line = format!("v={text}").replace('&', "%26");
    url::form_urlencoded::parse(line.as_bytes()).next().map(|(_, value)| value.into_owned())
}
