//! Answers, with the headers that the real server sends.

use std::sync::atomic::{AtomicU64, Ordering};

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, LOCATION, SET_COOKIE};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};

use super::store::StoreError;

const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                           connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// A request that was not understood, or that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("invalid_request: {0}")]
    Request(&'static str),
    #[error("no such session, client, code or token")]
    Unknown,
    #[error("server_error")]
    Store(#[from] StoreError),
    #[error("server_error")]
    Random(#[from] getrandom::Error),
    #[error("server_error")]
    Sign(#[from] josekit::JoseError),
}

impl ResponseError for Refused {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Request(_) => StatusCode::BAD_REQUEST,
            Self::Unknown => StatusCode::UNAUTHORIZED,
            Self::Store(_) | Self::Random(_) | Self::Sign(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// An answer that must not be cached.
pub(super) fn start(status: StatusCode) -> HttpResponseBuilder {
    let mut builder = common(status);
    builder.insert_header(("cache-control", "no-store")).insert_header(("pragma", "no-cache"));
    builder
}

/// The same, readable by scripts of other sites.
pub(super) fn start_shared(status: StatusCode) -> HttpResponseBuilder {
    let mut builder = start(status);
    share(&mut builder);
    builder
}

/// A document that anyone may cache for five minutes.
pub(super) fn document(text: &str) -> HttpResponse {
    let mut builder = common(StatusCode::OK);
    share(&mut builder);
    builder.insert_header(("cache-control", "public, max-age=300"));
    builder.insert_header((CONTENT_TYPE, "application/json")).body(text.to_owned())
}

/// The sign-in page.
pub(super) fn page(html: &str) -> HttpResponse {
    let mut builder = start(StatusCode::OK);
    builder
        .insert_header(("content-security-policy", PAGE_POLICY))
        .insert_header(("x-frame-options", "DENY"))
        .insert_header(("cross-origin-opener-policy", "same-origin-allow-popups"))
        .insert_header((
            "permissions-policy",
            "camera=(), geolocation=(), microphone=(), payment=(), usb=(), interest-cohort=()",
        ));
    builder.insert_header((CONTENT_TYPE, "text/html; charset=utf-8")).body(html.to_owned())
}

/// A redirect with a cookie.
pub(super) fn redirect(status: StatusCode, location: &str, cookie: &str) -> HttpResponse {
    start(status).insert_header((LOCATION, location)).insert_header((SET_COOKIE, cookie)).finish()
}

fn common(status: StatusCode) -> HttpResponseBuilder {
    // As long as the real one. It only tells requests apart and is not secret, so it need not be random.
    let id = format!("{:032x}", REQUESTS.fetch_add(1, Ordering::Relaxed));
    let mut builder = HttpResponse::build(status);
    builder
        .insert_header(("x-request-id", id))
        .insert_header(("referrer-policy", "no-referrer"))
        .insert_header(("x-content-type-options", "nosniff"));
    builder
}

fn share(builder: &mut HttpResponseBuilder) {
    builder.insert_header(("access-control-allow-origin", "*")).insert_header((
        "access-control-expose-headers",
        "www-authenticate, dpop-nonce, retry-after, x-request-id",
    ));
}
