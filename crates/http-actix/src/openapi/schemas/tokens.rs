//! The schemas of token requests and of introspection.

use countersign_domain::grant_type::GrantType;
use serde_json::{Map, Value, json};

use super::{answer, derived, request};
use crate::endpoint::tokens::{introspect, token};

/// The grant type decides which fields are required.
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
    // It may come several times, so the form's type has no field for it.
    schema["properties"]["resource"] = json!({
        "type": "string",
        "format": "uri",
        "description": "A resource that the access token is meant for (RFC 8707). May come several times.",
    });
    schema
}

/// `aud` is a string or a list, which the derive cannot express.
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
        "description": "The audience of an access token: a string or a list.",
        "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    });
    let mut key = derived::<introspect::ConfirmationBody>(&[]);
    key["description"] = json!("The key that the token is bound to.");
    schema["properties"]["cnf"] = key;
    schema
}
