//! The schemas of token requests, and of what a token is worth.

use countersign_domain::grant_type::GrantType;
use serde_json::{Map, Value, json};

use super::{answer, derived, request};
use crate::endpoint::tokens::{introspect, token};

/// Which fields are needed depends on the grant type.
pub(super) fn token_request() -> Value {
    let mut schema = request::<token::TokenForm>(
        &["grant_type", "client_id"],
        &[
            ("grant_type", json!({"enum": GrantType::ALL.map(GrantType::name)})),
            ("client_id", json!({"minLength": 1})),
        ],
    );
    let needed = |grant_type: &str, fields: &[&str]| {
        let mut properties: Map<String, Value> = fields
            .iter()
            .map(|field| ((*field).to_owned(), json!({"type": "string", "minLength": 1})))
            .collect();
        properties.insert("grant_type".to_owned(), json!({"type": "string", "enum": [grant_type]}));
        json!({"required": fields, "properties": properties})
    };
    schema["oneOf"] = json!([
        needed("authorization_code", &["code", "redirect_uri"]),
        needed("refresh_token", &["refresh_token"]),
        needed(GrantType::DeviceCode.name(), &["device_code"]),
        needed("client_credentials", &[]),
        needed(GrantType::WalletSignature.name(), &["challenge", "signature"]),
    ]);
    // May come several times, so it is no field of the form's type.
    schema["properties"]["resource"] = json!({
        "type": "string",
        "format": "uri",
        "description": "What the access token shall be for (RFC 8707); may come several times.",
    });
    schema
}

/// `aud` is a text or a list, which no type of ours says.
pub(super) fn introspection() -> Value {
    let mut schema = answer::<introspect::IntrospectionBody>(
        &[],
        &[
            ("sub", json!({"format": "uuid"})),
            ("iss", json!({"format": "uri"})),
            ("token_type", json!({"enum": ["Bearer", "DPoP"]})),
        ],
    );
    schema["properties"]["aud"] = json!({
        "description": "What an access token is for: one text, or a list.",
        "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    });
    let mut key = derived::<introspect::ConfirmationBody>(&[]);
    key["description"] = json!("The key that it is bound to.");
    schema["properties"]["cnf"] = key;
    schema
}
