//! The schemas of clients, and the rules for their addresses and names.

use countersign_domain::client_field::ClientField;
use countersign_domain::grant_type::GrantType;
use countersign_domain::scope::Scope;
use countersign_usecases::clients::client_view::RegisteredView;
use countersign_usecases::clients::registration::Writer;
use serde_json::{Value, json};

use super::{answer_of, derived, request_of};
use crate::endpoint::clients;
use crate::openapi::client_fields;

/// A host on the web by https, or this machine by http. The path has no dot segments.
const WEB_ADDRESS: &str = r"(https://([a-z0-9]+(-[a-z0-9]+)*\.)*[a-z]([a-z0-9]|-[a-z0-9])*|http://(localhost|127\.0\.0\.1|\[::1\]))(:([1-9][0-9]{0,3}|[1-5][0-9]{4}))?(/[A-Za-z0-9_~-][A-Za-z0-9._~!$&'()+,;=:@-]*)*/?(\?[A-Za-z0-9._~-]+=[A-Za-z0-9._~-]*)?";
/// A URI with a scheme that belongs to one application.
const APP_ADDRESS: &str = r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+";
pub(super) fn client_request() -> Value {
    let mut schema = json!({
        "description": "The metadata that a client registers.",
        "type": "object",
        "properties": {
            "client_id": {"type": "string", "description": "For an update: the client's own id, if it is sent."},
            "client_secret": {
                "type": "string",
                "description":
                    "For an update: the client's own secret, if it is sent. A client cannot choose its secret.",
            },
        },
    });
    let fields = ClientField::ALL.iter().copied().filter(|field| Writer::Client.says(*field));
    client_fields::add(&mut schema, fields, |_| false);
    let address = json!({"maxLength": 2048, "pattern": format!("^{WEB_ADDRESS}$")});
    let examples = Scope::ALL.map(Scope::name);
    // An unknown name is left out, whatever it looks like.
    let scope = json!({"type": "string", "examples": examples});
    let mut rules = client_fields::rules(&address, &redirect_uri());
    rules.retain(|(name, _)| ClientField::named(name).is_none_or(|field| Writer::Client.says(field)));
    rules.extend([
        (ClientField::RedirectUris.name(), json!({"minItems": 1})),
        (ClientField::ScopeList.name(), json!({"items": scope})),
        (
            ClientField::ResponseTypes.name(),
            json!({"minItems": 1, "maxItems": 1, "items": {"type": "string", "enum": ["code"]}}),
        ),
        (ClientField::GrantTypes.name(), grant_types()),
        (
            ClientField::Method.name(),
            json!({"enum": ["client_secret_post", "client_secret_basic", "none", null]}),
        ),
    ]);
    let mut schema = request_of(schema, &["client_name", "redirect_uris"], &rules);
    // These two say one thing in two ways. So do `scope` and `scopes`, which the server accepts together if they agree.
    schema["allOf"] = json!([{"not": {"required": ["jwks", "jwks_uri"]}}]);
    schema
}

pub(super) fn client() -> Value {
    let mut schema = derived::<clients::ClientBody>(&[
        ("client_id", json!({"format": "uuid"})),
        ("created_at", json!({"format": "date-time"})),
        ("client_secret", json!({"pattern": "^[A-Za-z0-9_-]{43,}$"})),
        ("registration_client_uri", json!({"format": "uri"})),
        ("client_secret_expires_at", json!({"enum": [0]})),
    ]);
    let shown = ClientField::ALL.iter().copied().filter(|field| *field != ClientField::SubjectType);
    client_fields::add(&mut schema, shown, RegisteredView::always_shows);
    answer_of(schema, &["redirect_uris_left_out"])
}

fn redirect_uri() -> Value {
    json!({"type": "string", "maxLength": 2048, "pattern": format!("^({WEB_ADDRESS}|{APP_ADDRESS})$")})
}

/// `refresh_token` alone is useless: another grant type must come with it.
fn grant_types() -> Value {
    json!({
        "minItems": 1,
        "items": {"type": "string", "enum": ["authorization_code", "refresh_token", GrantType::DeviceCode.name()]},
        "not": {"items": {"enum": ["refresh_token"]}},
    })
}
