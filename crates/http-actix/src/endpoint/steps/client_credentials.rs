//! Client credentials: HTTP Basic or the body (RFC 6749 section 2.3.1), or an assertion that the client
//! signed (RFC 7521).

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use countersign_domain::client_assertion::ASSERTION_TYPE;
use countersign_domain::client_auth::{ClientCredentials, ClientProof};
use countersign_domain::error::{CLIENT_NOT_BELIEVED, OAuthErrorCode};
use countersign_domain::redirect_uri::percent_escapes_are_whole;
use countersign_domain::secret::Secret;
use serde::Deserialize;

use crate::error::{About, ApiError};
use crate::extract::body::{Body, present, required};
use crate::limits::rate_limit::Limited;
use crate::state::AppState;

/// What the body says about the client.
#[derive(Debug, Default)]
pub(crate) struct InBody {
    pub(crate) client_id: Option<String>,
    pub(crate) client_secret: Option<String>,
    pub(crate) client_assertion_type: Option<String>,
    pub(crate) client_assertion: Option<String>,
}

/// Takes the fields about the client out of a form. Each form's own type has them, because serde's errors
/// would not name a field in a flattened type.
macro_rules! in_body {
    ($form:ident) => {
        $crate::endpoint::steps::client_credentials::InBody {
            client_id: $form.client_id,
            client_secret: $form.client_secret,
            client_assertion_type: $form.client_assertion_type,
            client_assertion: $form.client_assertion,
        }
    };
}
pub(crate) use in_body;

/// Joins what the header and the body say about the client; `None` if neither names one.
pub(crate) fn join(request: &HttpRequest, body: InBody) -> Result<Option<ClientCredentials>, ApiError> {
    let InBody { client_id, client_secret, client_assertion_type, client_assertion } = body;
    let [client_id, client_secret, client_assertion_type, client_assertion] =
        [client_id, client_secret, client_assertion_type, client_assertion].map(present);
    let mut headers = request.headers().get_all(header::AUTHORIZATION);
    let header = headers.next();
    if client_assertion.is_some() || client_assertion_type.is_some() {
        if header.is_some() || client_secret.is_some() {
            return Err(two_ways());
        }
        if client_assertion_type.as_deref() != Some(ASSERTION_TYPE) {
            return Err(ApiError::invalid_request(format!("client_assertion_type must be {ASSERTION_TYPE}")));
        }
        let assertion = required(client_assertion, "client_assertion")?;
        return asserted(client_id, assertion).map(Some);
    }
    let Some(value) = header else {
        let proof = client_secret.map(Secret::new).into();
        return Ok(client_id.map(|client_id| ClientCredentials { client_id, proof }));
    };
    if headers.next().is_some() {
        return Err(ApiError::invalid_request("the Authorization header is given more than once"));
    }
    let basic = parse_basic(value).ok_or_else(|| with_challenge(not_basic()))?;
    if client_secret.is_some() {
        return Err(two_ways());
    }
    if client_id.is_some_and(|client_id| client_id != basic.client_id) {
        return Err(ApiError::invalid_request(
            "client_id differs between the Authorization header and the body",
        ));
    }
    Ok(Some(basic))
}

/// The same for a request that stores a row: it must name a client, and a client that proves nothing is
/// rate-limited.
pub(crate) fn join_counted(
    state: &AppState,
    request: &HttpRequest,
    body: InBody,
) -> Result<ClientCredentials, ApiError> {
    let credentials = required(join(request, body)?, "client_id")?;
    match credentials.proof {
        ClientProof::Secret(_) | ClientProof::Assertion(_) => {}
        ClientProof::None => state.rate_limits.check(Limited::PublicRequest, request)?,
    }
    Ok(credentials)
}

/// Like [`refuse`], but a missing secret gets the error of RFC 6749 section 5.2. Only the token endpoint
/// answers with 422.
pub(crate) fn refuse_strictly(
    state: &AppState,
    request: &HttpRequest,
    body: &Body,
    error: ApiError,
) -> ApiError {
    let is_incomplete = error.error.code == OAuthErrorCode::IncompleteForm;
    let failed = || ApiError::new(OAuthErrorCode::InvalidClient, CLIENT_NOT_BELIEVED);
    refuse(state, request, body, if is_incomplete { failed() } else { error })
}

/// Completes the error of a failed authentication. It counts for the IP address, and if the request had an
/// `Authorization` header, the answer carries a challenge. Every refusal learns which client the request
/// names, for the log.
pub(crate) fn refuse(state: &AppState, request: &HttpRequest, body: &Body, error: ApiError) -> ApiError {
    let error = error.about(named_in(request, body));
    if error.error.code != OAuthErrorCode::InvalidClient {
        return error;
    }
    if let Err(too_many) = state.rate_limits.check(Limited::FailedClientAuthentication, request) {
        return too_many.about(error.about);
    }
    if request.headers().contains_key(header::AUTHORIZATION) { with_challenge(error) } else { error }
}

fn with_challenge(error: ApiError) -> ApiError {
    let challenge = HeaderValue::from_static("Basic realm=\"countersign\", charset=\"UTF-8\"");
    error.with_header(header::WWW_AUTHENTICATE, challenge)
}

/// The client that a request names: read again, because only refusals ask for it.
fn named_in(request: &HttpRequest, body: &Body) -> About {
    #[derive(Default, Deserialize)]
    struct Named {
        client_id: Option<String>,
        client_assertion: Option<String>,
    }
    if let Some(basic) = request.headers().get(header::AUTHORIZATION).and_then(parse_basic) {
        return About::client(&basic.client_id);
    }
    let Named { client_id, client_assertion } = body.either().unwrap_or_default();
    let subject = client_assertion.as_deref().and_then(subject_of);
    client_id.or(subject).map_or_else(About::default, |named| About::client(&named))
}

/// Clients form-encode both halves before base64. Our own ids and secrets have no characters that this would
/// change.
fn parse_basic(value: &HeaderValue) -> Option<ClientCredentials> {
    let (scheme, encoded) = value.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    let client_id = form_decode(id)?;
    let secret = Secret::new(form_decode(secret)?);
    let proof = Some(secret).filter(|secret| !secret.is_empty()).into();
    (!client_id.is_empty()).then_some(ClientCredentials { client_id, proof })
}

/// An assertion names its client; the parameter `client_id` may repeat it (RFC 7521 section 4.2). The
/// signature is not verified here.
fn asserted(client_id: Option<String>, assertion: String) -> Result<ClientCredentials, ApiError> {
    let subject = subject_of(&assertion).ok_or_else(not_believed)?;
    if client_id.is_some_and(|client_id| client_id != subject) {
        return Err(not_believed());
    }
    Ok(ClientCredentials { client_id: subject, proof: ClientProof::Assertion(assertion) })
}

/// The claim `sub` of an assertion, not verified.
fn subject_of(assertion: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Subject {
        sub: String,
    }
    let payload = URL_SAFE_NO_PAD.decode(assertion.split('.').nth(1)?).ok()?;
    Some(serde_json::from_slice::<Subject>(&payload).ok()?.sub)
}

fn two_ways() -> ApiError {
    ApiError::invalid_request("the client authenticates in two ways: use only one")
}

/// The header alone shows it, so that it reveals nothing about any client.
fn not_basic() -> ApiError {
    ApiError::new(
        OAuthErrorCode::InvalidClient,
        "client authentication failed: the Authorization header must be Basic and the base64 of client_id:client_secret, \
         each of them form-encoded first",
    )
}

fn not_believed() -> ApiError {
    ApiError::new(OAuthErrorCode::InvalidClient, CLIENT_NOT_BELIEVED)
}

fn form_decode(text: &str) -> Option<String> {
    if !percent_escapes_are_whole(text) {
        return None;
    }
    let line = format!("v={text}").replace('&', "%26");
    url::form_urlencoded::parse(line.as_bytes()).next().map(|(_, value)| value.into_owned())
}
