//! The schemas of clients, and the rules for their addresses and names.

use countersign_domain::grant_type::GrantType;
use countersign_domain::scope::{MAX_SCOPE_NAME, Scope};
use serde_json::{Value, json};

use super::{SCOPES, answer, request};
use crate::endpoint::clients;

/// A host on the web by https, or this machine by http. The path has no dot segments.
const WEB_ADDRESS: &str = r"(https://([a-z0-9]+(-[a-z0-9]+)*\.)*[a-z]([a-z0-9]|-[a-z0-9])*|http://(localhost|127\.0\.0\.1|\[::1\]))(:([1-9][0-9]{0,3}|[1-5][0-9]{4}))?(/[A-Za-z0-9_~-][A-Za-z0-9._~!$&'()+,;=:@-]*)*/?(\?[A-Za-z0-9._~-]+=[A-Za-z0-9._~-]*)?";
/// A URI with a scheme that belongs to one application.
const APP_ADDRESS: &str = r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+";
/// Invisible characters. The server knows a few more, beyond U+FFFF.
const HIDDEN: &str = r"\u0000-\u001F\u007F-\u00A0\u00AD\u034F\u061C\u115F\u1160\u1680\u17B4\u17B5\u180B-\u180F\u2000-\u200F\u2028-\u202F\u205F-\u206F\u2800\u3000\u3164\uFDD0-\uFDEF\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFC\uFFFE\uFFFF";

/// Text that people can read: no control, invisible or bidirectional characters, and more than spaces.
pub(crate) fn readable() -> String {
    format!("^[^{HIDDEN}]*[^\\s{HIDDEN}][^{HIDDEN}]*$")
}

pub(super) fn client_request() -> Value {
    let web_address = json!({"maxLength": 2048, "pattern": format!("^{WEB_ADDRESS}$")});
    let examples = Scope::ALL.map(Scope::name);
    let scope = json!({"type": "string", "maxLength": MAX_SCOPE_NAME, "examples": examples});
    let mut schema = request::<clients::ClientRequest>(
        &["client_name", "redirect_uris"],
        &[
            ("client_name", json!({"minLength": 1, "maxLength": 100, "pattern": readable()})),
            ("redirect_uris", json!({"minItems": 1, "maxItems": 20, "items": redirect_uri()})),
            ("client_uri", web_address.clone()),
            ("logo_uri", web_address.clone()),
            ("scopes", json!({"minItems": 1, "items": scope})),
            ("scope", json!({"maxLength": 512, "pattern": SCOPES})),
            (
                "response_types",
                json!({"minItems": 1, "maxItems": 1, "items": {"type": "string", "enum": ["code"]}}),
            ),
            ("grant_types", grant_types()),
            (
                "token_endpoint_auth_method",
                json!({"enum": ["client_secret_post", "client_secret_basic", "none", null]}),
            ),
            (
                "contacts",
                json!({"maxItems": 10, "items": {"type": "string", "maxLength": 254, "pattern": readable()}}),
            ),
            ("tos_uri", web_address.clone()),
            ("policy_uri", web_address.clone()),
            ("jwks_uri", web_address),
            ("application_type", json!({"enum": ["web", "native", null]})),
            ("id_token_signed_response_alg", json!({"enum": ["RS256", "ES256", "EdDSA", null]})),
            ("post_logout_redirect_uris", json!({"maxItems": 20, "items": redirect_uri()})),
        ],
    );
    // Each of these two pairs says one thing in two ways. The server accepts both `scope` and `scopes` if
    // they agree, but a schema cannot say that.
    schema["allOf"] =
        json!([{"not": {"required": ["scope", "scopes"]}}, {"not": {"required": ["jwks", "jwks_uri"]}}]);
    schema
}

pub(super) fn client() -> Value {
    answer::<clients::ClientBody>(
        &[
            "contacts",
            "post_logout_redirect_uris",
            "require_pushed_authorization_requests",
            "dpop_bound_access_tokens",
        ],
        &[
            ("client_id", json!({"format": "uuid"})),
            ("created_at", json!({"format": "date-time"})),
            ("client_secret", json!({"pattern": "^[A-Za-z0-9_-]{43,}$"})),
            ("registration_client_uri", json!({"format": "uri"})),
            ("client_secret_expires_at", json!({"enum": [0]})),
        ],
    )
}

fn redirect_uri() -> Value {
    json!({"type": "string", "maxLength": 2048, "pattern": format!("^({WEB_ADDRESS}|{APP_ADDRESS})$")})
}

/// `refresh_token` is no use alone: another grant type must come with it.
fn grant_types() -> Value {
    json!({
        "minItems": 1,
        "items": {"type": "string", "enum": ["authorization_code", "refresh_token", GrantType::DeviceCode.name()]},
        "not": {"items": {"enum": ["refresh_token"]}},
    })
}
