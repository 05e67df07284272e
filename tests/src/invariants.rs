//! Rules for every response, whatever the request. The test client checks them on each response that it
//! reads.

use serde_json::Value;

use crate::http::{Request, Response};

/// Paths whose responses must not be cached.
const PRIVATE: [&str; 12] = [
    "/oauth/clients",
    "/oauth/par",
    "/oauth/introspect",
    "/oauth/device_authorization",
    "/device",
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/userinfo",
    "/oauth/login",
    "/oauth/challenge",
    "/account",
    "/verify",
];

/// Fails the test if the response breaks one of the rules for all responses.
#[track_caller]
pub fn check(request: &Request, response: &Response) {
    let path = request.target.split('?').next().unwrap_or_default();
    let id =
        response.header("X-Request-Id").unwrap_or_else(|| panic!("{path}: no X-Request-Id in {response:?}"));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    assert!((1..=64).contains(&id.len()) && id.bytes().all(plain), "{path}: X-Request-Id {id}");
    assert!(!matches!(response.status, 301 | 307 | 308), "A-005: {path}: {response:?}");
    assert_ne!(response.status, 500, "{path}: {response:?}");
    if matches!(response.status, 429 | 503) {
        let seconds = response.header("Retry-After").and_then(|seconds| seconds.parse::<u32>().ok());
        assert!(
            seconds.is_some_and(|seconds| (1..=3600).contains(&seconds)),
            "{path}: Retry-After in {response:?}"
        );
    }
    if response.status == 405 {
        assert!(
            response.header("Allow").is_some_and(|allow| !allow.is_empty()),
            "A-007: {path}: {response:?}"
        );
    }
    let refused_by_path = matches!(response.status, 404 | 405);
    if PRIVATE.iter().any(|private| path.starts_with(private))
        && !refused_by_path
        && request.method != "OPTIONS"
    {
        assert_eq!(response.header("Cache-Control"), Some("no-store"), "A-001: {path}: {response:?}");
        assert_eq!(response.header("Pragma"), Some("no-cache"), "A-001: {path}: {response:?}");
    }
    check_cookies(path, response);
    let content_type = response.header("Content-Type").unwrap_or_default();
    if content_type.starts_with("text/html") {
        check_page(path, response);
    } else if response.status >= 400 && request.method != "HEAD" {
        assert_eq!(content_type, "application/json", "A-002: {path}: {response:?}");
        check_error(path, response);
    }
    // The OpenAPI description only describes our JSON responses.
    if content_type.starts_with("application/json") && request.method != "HEAD" && path != "/openapi.json" {
        assert!(!holds_null(&response.json()), "{path}: a null in {response:?}");
    }
}

/// a registered error code, and a description in the characters that RFC 6749 allows.
fn check_error(path: &str, response: &Response) {
    let json = response.json();
    let fields: Vec<&str> = json.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    assert_eq!(fields, ["error", "error_description"], "{path}: {response:?}");
    let error = response.field("error");
    assert!(
        !error.is_empty() && error.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
        "{path}: {error}"
    );
    let description = response.field("error_description");
    let allowed = |character: char| matches!(character, ' '..='~') && !matches!(character, '"' | '\\');
    assert!(!description.is_empty() && description.chars().all(allowed), "A-002: {path}: {description}");
}

/// a page loads nothing from other hosts, runs no inline scripts, and cannot be framed.
fn check_page(path: &str, response: &Response) {
    let policy =
        response.header("Content-Security-Policy").unwrap_or_else(|| panic!("A-004: {path}: {response:?}"));
    for rule in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
        assert!(policy.contains(rule), "A-004: {path}: {rule} in {policy}");
    }
    for weak in ["unsafe-inline", "unsafe-eval", "*"] {
        assert!(!policy.contains(weak), "A-004: {path}: {weak} in {policy}");
    }
    // A response can be posted to a program on the user's own computer.
    let plain = policy.split("; ").find(|rule| rule.contains("http:") && !rule.starts_with("form-action "));
    assert_eq!(plain, None, "A-004: {path}: {policy}");
    let headers = [
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    ];
    for (name, value) in headers {
        assert_eq!(response.header(name), Some(value), "A-004: {path}: {name}");
    }
    for name in ["Permissions-Policy", "Cross-Origin-Opener-Policy"] {
        assert!(response.header(name).is_some(), "A-004: {path}: {name}");
    }
}

/// the attributes that each of our cookies must have.
fn check_cookies(path: &str, response: &Response) {
    for cookie in response.all("Set-Cookie") {
        let attributes: Vec<String> =
            cookie.split(';').skip(1).map(|part| part.trim().to_ascii_lowercase()).collect();
        for attribute in ["httponly", "samesite=lax", "path=/"] {
            assert!(
                attributes.iter().any(|given| given == attribute),
                "A-022: {path}: {attribute} in {cookie}"
            );
        }
        assert!(!attributes.iter().any(|given| given.starts_with("domain")), "A-022: {path}: {cookie}");
        let secure = attributes.iter().any(|given| given == "secure");
        assert_eq!(cookie.starts_with("__Host-"), secure, "A-022: {path}: {cookie}");
        let pair = cookie.split(';').next().unwrap_or_default();
        assert!(pair.len() <= 4096, "{path}: browsers drop a cookie of {} bytes", pair.len());
    }
}

fn holds_null(json: &Value) -> bool {
    match json {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(fields) => fields.values().any(holds_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
