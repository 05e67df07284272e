//! The headers of every response.

use actix_web::http::Method;
use actix_web::http::header::{
    self, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderMap, HeaderName, HeaderValue,
};

use crate::page::policy::PAGE_POLICY;

/// The endpoints that pages of other sites may call, always without credentials.
const SHARED: [&str; 10] = [
    "/oauth/token",
    "/oauth/par",
    "/oauth/device_authorization",
    "/oauth/userinfo",
    "/oauth/revoke",
    "/oauth/jwks",
    "/pictures/",
    "/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server",
    // For an issuer that was configured with a slash at its end.
    "//.well-known/",
];

/// The pages on which wallets open windows of their own. Such a window must be able to reach the page
/// (ADR 0012).
const WITH_WALLETS: [&str; 2] = ["/auth", "/account"];

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");

/// As many headers as are added to a page, with the request's id.
const MOST_ADDED: usize = 10;

/// Adds the headers that a response does not have yet. `path` is relative to the path of the public URL.
pub(crate) fn complete(headers: &mut HeaderMap, method: &Method, path: &str, https: bool) {
    let is_page =
        headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    // Growing the map step by step would move what is in it several times.
    headers.reserve(MOST_ADDED);
    let mut set = |name: HeaderName, value: &'static str| {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    };
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    if https {
        set(header::STRICT_TRANSPORT_SECURITY, "max-age=63072000; includeSubDomains");
    }
    if SHARED.iter().any(|shared| path.starts_with(shared)) {
        set(ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        set(ACCESS_CONTROL_EXPOSE_HEADERS, "www-authenticate, dpop-nonce, retry-after, x-request-id");
        if method == Method::OPTIONS {
            set(ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, OPTIONS");
            set(ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type, dpop");
            set(ACCESS_CONTROL_MAX_AGE, "86400");
        }
    }
    if is_page {
        set(header::CONTENT_SECURITY_POLICY, PAGE_POLICY);
        set(header::X_FRAME_OPTIONS, "DENY");
        let has_wallets = WITH_WALLETS.iter().any(|page| {
            path.strip_prefix(page).is_some_and(|below| below.is_empty() || below.starts_with('/'))
        });
        let opener = if has_wallets { "same-origin-allow-popups" } else { "same-origin" };
        set(OPENER_POLICY, opener);
        set(
            PERMISSIONS_POLICY,
            "camera=(), geolocation=(), microphone=(), payment=(), usb=(), interest-cohort=()",
        );
    }
    // Responses must not be stored unless their handler says so: they contain tokens, secrets, codes,
    // profiles, pages or errors.
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    }
}

#[cfg(test)]
mod tests;
