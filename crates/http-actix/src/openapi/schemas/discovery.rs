//! The schemas of what libraries read first: the metadata and the keys.

use serde_json::{Value, json};

use super::answer;
use crate::endpoint::site::discovery;

pub(super) fn metadata() -> Value {
    let uri = || json!({"format": "uri"});
    answer::<discovery::Metadata<'_>>(
        &[],
        &[
            ("issuer", uri()),
            ("authorization_endpoint", uri()),
            ("token_endpoint", uri()),
            ("userinfo_endpoint", uri()),
            ("revocation_endpoint", uri()),
            ("introspection_endpoint", uri()),
            ("pushed_authorization_request_endpoint", uri()),
            ("device_authorization_endpoint", uri()),
            ("end_session_endpoint", uri()),
            ("registration_endpoint", uri()),
            ("jwks_uri", uri()),
            ("service_documentation", uri()),
        ],
    )
}

/// The keys come from the signer as a finished document, so no type of this crate describes them.
pub(super) fn jwks() -> Value {
    let member = |description: &str| json!({"type": "string", "description": description});
    json!({
        "type": "object",
        "description": "The public keys (RFC 7517).",
        "required": ["keys"],
        "properties": {
            "keys": {
                "type": "array",
                "description": "The keys that sign now, that will sign next, and that signed before.",
                "items": {
                    "type": "object",
                    "description": "One key.",
                    "required": ["kty", "kid", "alg", "use"],
                    "properties": {
                        "kty": member("The family: `EC`, `RSA` or `OKP`."),
                        "crv": member("The curve: `P-256` or `Ed25519`."),
                        "x": member("The first coordinate, or the public key on `Ed25519`, base64url."),
                        "y": member("The second coordinate on `P-256`, base64url."),
                        "n": member("The modulus of `RSA`, base64url."),
                        "e": member("The exponent of `RSA`, base64url."),
                        "kid": member("The key's name in the header of tokens."),
                        "alg": member("The algorithm: `ES256`, `RS256` or `EdDSA`."),
                        "use": member("Always `sig`."),
                    },
                },
            },
        },
    })
}
