//! Proofs of keys, and the nonces that they need (RFC 9449).

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::error::OAuthErrorCode;
use countersign_ports::READ_ALGORITHMS;

use crate::error::ApiError;
use crate::extract::{bearer, header_text};
use crate::state::AppState;

const PROOF: HeaderName = HeaderName::from_static("dpop");
const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// The proof of the request, if it has one. Whose it is, and whether it is good, the use-case says.
pub(crate) fn proof(request: &HttpRequest) -> Result<Option<String>, ApiError> {
    let refused = |why| ApiError::new(OAuthErrorCode::InvalidDpopProof, why);
    match request.headers().get_all(PROOF).count() {
        0 => Ok(None),
        1 => match header_text(request.headers(), PROOF) {
            Some(proof) => Ok(Some(proof.to_owned())),
            None => Err(refused("the DPoP header is no text")),
        },
        _ => Err(refused("the DPoP header is given more than once")),
    }
}

/// Adds the nonce of now to the answer to somebody who proves a key, so that the next proof is good at once.
pub(crate) fn answer(state: &AppState, request: &HttpRequest, mut response: HttpResponse) -> HttpResponse {
    if let Some(nonce) = nonce(state, request) {
        response.headers_mut().insert(NONCE, nonce);
    }
    response
}

/// The same for a refusal.
pub(crate) fn refuse(state: &AppState, request: &HttpRequest, error: ApiError) -> ApiError {
    match nonce(state, request) {
        Some(nonce) => error.with_header(NONCE, nonce),
        None => error,
    }
}

/// The challenge to somebody who presents a token with a proof (RFC 9449 section 7.1): a proof that is refused is 401 there.
pub(crate) fn challenge(error: ApiError) -> ApiError {
    let code = error.error.code;
    let is_about_proof = matches!(code, OAuthErrorCode::InvalidDpopProof | OAuthErrorCode::UseDpopNonce);
    let error = if is_about_proof { error.with_status(StatusCode::UNAUTHORIZED) } else { error };
    bearer::challenge_by(&scheme(), error)
}

/// Tells a request without any token that it may also come with a proof.
pub(crate) fn offer_beside(error: ApiError) -> ApiError {
    match HeaderValue::from_str(&format!("{}, {}", bearer::SCHEME, scheme())) {
        Ok(value) => error.with_header(header::WWW_AUTHENTICATE, value),
        Err(_) => error,
    }
}

fn scheme() -> String {
    format!("DPoP algs=\"{}\"", READ_ALGORITHMS.join(" "))
}

fn nonce(state: &AppState, request: &HttpRequest) -> Option<HeaderValue> {
    if !request.headers().contains_key(PROOF) {
        return None;
    }
    let nonce = state.context.keys.nonces.nonce(state.context.clock.now());
    HeaderValue::from_str(&nonce).ok()
}
