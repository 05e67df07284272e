//! DPoP proofs, and the nonces that they need (RFC 9449).

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

/// The proof in the request, if it has one. The use-case verifies it.
pub(crate) fn proof(request: &HttpRequest) -> Result<Option<String>, ApiError> {
    let refused = |why| ApiError::new(OAuthErrorCode::InvalidDpopProof, why);
    match request.headers().get_all(PROOF).count() {
        0 => Ok(None),
        1 => match header_text(request.headers(), PROOF) {
            Some(proof) => Ok(Some(proof.to_owned())),
            None => Err(refused("the DPoP header is not text")),
        },
        _ => Err(refused("the DPoP header is given more than once")),
    }
}

/// Adds the current nonce to the answer if the request had a proof, so that the next proof can use it.
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

/// Adds the challenge for a token that came with a proof (RFC 9449 section 7.1). There, a refused proof has
/// status 401.
pub(crate) fn challenge(error: ApiError) -> ApiError {
    let code = error.error.code;
    let is_about_proof = matches!(code, OAuthErrorCode::InvalidDpopProof | OAuthErrorCode::UseDpopNonce);
    let error = if is_about_proof { error.with_status(StatusCode::UNAUTHORIZED) } else { error };
    bearer::challenge_by(&scheme(), error)
}

/// Offers DPoP in addition to Bearer, for a request without any token.
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
