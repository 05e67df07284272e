//! The schemas of what is sent and answered: names, types, descriptions and required fields from the types, and the rules of
//! values that a type does not show.

use countersign_domain::grant_type::GrantType;
use countersign_domain::scope::Scope;
use paperclip::v2::schema::Apiv2Schema;
use serde_json::{Map, Value, json};

use crate::endpoint::account::{data, email, forms};
use crate::endpoint::{
    answer as leaving, challenge, clients, continue_session, deny, device, device_authorization, discovery,
    health, introspect, login, push, revoke, token, userinfo, verify, wallets,
};
use crate::error::ErrorBody;

/// A host that others can reach by https, or this machine by http; what stands behind it needs no dot segments.
const WEB_ADDRESS: &str = r"(https://([a-z0-9]+(-[a-z0-9]+)*\.)*[a-z]([a-z0-9]|-[a-z0-9])*|http://(localhost|127\.0\.0\.1|\[::1\]))(:([1-9][0-9]{0,3}|[1-5][0-9]{4}))?(/[A-Za-z0-9_~-][A-Za-z0-9._~!$&'()+,;=:@-]*)*/?(\?[A-Za-z0-9._~-]+=[A-Za-z0-9._~-]*)?";
/// A scheme that belongs to one application.
const APP_ADDRESS: &str = r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+";
/// Text that people can read: no control, invisible or bidirectional characters, and not only spaces.
const READABLE: &str = r"^[^\u0000-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u2028-\u202E\u2060\u2066-\u2069\uFEFF]*[^\s\u0000-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u2028-\u202E\u2060\u2066-\u2069\uFEFF][^\u0000-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u2028-\u202E\u2060\u2066-\u2069\uFEFF]*$";
/// A dot-string of RFC 5321 at a domain with a top level of letters.
const EMAIL: &str = r"^[a-z0-9]{1,32}([.+-][a-z0-9]{1,20})?@[a-z0-9]{1,32}\.[a-z]{2,10}$";
/// One session, this one or all.
const SESSION: &str = "^(this|all|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$";
const SCOPES: &str = "^(openid|profile|email|offline_access|wallets|wallet_proof)( (openid|profile|email|offline_access|wallets|wallet_proof))*$";
const SIGNATURE_VERDICTS: [&str; 6] =
    ["valid", "invalid", "undecided", "unclear_account", "no_account", "absent"];

/// All schemas by their names.
pub(super) fn all() -> Map<String, Value> {
    let schemas = [
        ("ClientRequest", client_request()),
        ("Client", client()),
        ("AuthorizationRequest", authorization_request()),
        ("LogoutRequest", super::leaving_operations::logout_request()),
        ("ChallengeRequest", request::<challenge::ChallengeRequest>(&["wallet_address"], &[])),
        (
            "Challenge",
            answer::<challenge::ChallengeAnswer>(
                &[],
                &[
                    ("expires_at", json!({"format": "date-time"})),
                    ("chain", json!({"pattern": "^[a-z0-9]+:.+$"})),
                    ("how_to_sign", json!({"items": derived::<challenge::HowToSign>(&[])})),
                ],
            ),
        ),
        (
            "LoginRequest",
            request::<login::LoginRequest>(
                &["wallet_address", "challenge", "signature", "client_id", "redirect_uri", "state"],
                &[],
            ),
        ),
        (
            "WalletChangeRequest",
            request::<wallets::WalletChangeRequest>(
                &["change", "wallet_address", "other_wallet_address"],
                &[("change", json!({"enum": ["link", "unlink"]}))],
            ),
        ),
        (
            "WalletChange",
            answer::<wallets::WalletChangeAnswer>(
                &[],
                &[
                    ("expires_at", json!({"format": "date-time"})),
                    ("how_to_sign", json!({"items": derived::<challenge::HowToSign>(&[])})),
                    ("other_how_to_sign", json!({"items": derived::<challenge::HowToSign>(&[])})),
                ],
            ),
        ),
        ("SignedWalletChange", request::<wallets::SignedChange>(&["challenge", "signature"], &[])),
        ("VerifyRequest", request::<verify::VerifyRequest>(&["text"], &[])),
        (
            "Verified",
            answer::<verify::VerifyAnswer<'_>>(
                &["resources", "other_lines"],
                &[
                    ("signature", json!({"enum": SIGNATURE_VERDICTS})),
                    (
                        "writer",
                        json!({"enum": ["this_server", "not_this_server", "another_site", "unknown"]}),
                    ),
                ],
            ),
        ),
        ("Wallets", answer::<wallets::WalletsAnswer>(&[], &[])),
        ("Redirect", answer::<leaving::RedirectAnswer>(&[], &[("redirect_to", json!({"format": "uri"}))])),
        ("ContinueRequest", request::<continue_session::ContinueRequest>(&[], &[])),
        ("Account", account()),
        (
            "RevokeAccessRequest",
            request::<forms::RevokeAccessRequest>(
                &["client_id"],
                &[("client_id", json!({"format": "uuid"}))],
            ),
        ),
        (
            "EndSessionsRequest",
            request::<forms::EndSessionsRequest>(&["session"], &[("session", json!({"pattern": SESSION}))]),
        ),
        (
            "DeleteAccountRequest",
            request::<forms::DeleteAccountRequest>(&["confirm"], &[("confirm", json!({"enum": ["yes"]}))]),
        ),
        (
            "EmailRequest",
            request::<email::EmailRequest>(
                &["email"],
                &[("email", json!({"pattern": EMAIL, "maxLength": 254}))],
            ),
        ),
        (
            "ConfirmEmailRequest",
            request::<email::ConfirmEmailRequest>(&["token"], &[("token", json!({"minLength": 1}))]),
        ),
        ("DenyRequest", request::<deny::DenyRequest>(&[], &[])),
        ("TokenRequest", token_request()),
        (
            "Tokens",
            answer::<token::TokenBody>(
                &[],
                &[
                    ("token_type", json!({"enum": ["Bearer", "DPoP"]})),
                    ("expires_in", json!({"minimum": 1})),
                    ("scope", json!({"pattern": SCOPES})),
                ],
            ),
        ),
        (
            "UserInfo",
            answer::<userinfo::UserInfoBody>(
                &[],
                &[
                    ("sub", json!({"format": "uuid"})),
                    ("preferred_username", json!({"pattern": "^User_[0-9a-f]{8}$"})),
                    ("email", json!({"format": "email"})),
                ],
            ),
        ),
        ("UserInfoForm", request::<userinfo::UserInfoForm>(&[], &[])),
        (
            "RevocationRequest",
            request::<revoke::RevokeRequest>(
                &["token", "client_id"],
                &[("token", json!({"minLength": 1})), ("client_id", json!({"minLength": 1}))],
            ),
        ),
        ("Revoked", answer::<revoke::RevokeAnswer>(&[], &[])),
        ("PushedAuthorizationRequest", pushed_authorization_request()),
        ("Pushed", answer::<push::PushedBody>(&[], &[("expires_in", json!({"minimum": 1, "maximum": 60}))])),
        (
            "DeviceRequest",
            request::<device_authorization::DeviceForm>(
                &["client_id"],
                &[("client_id", json!({"minLength": 1}))],
            ),
        ),
        (
            "Device",
            answer::<device_authorization::DeviceBody>(
                &[],
                &[
                    ("user_code", json!({"pattern": "^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$"})),
                    ("verification_uri", json!({"format": "uri"})),
                    ("verification_uri_complete", json!({"format": "uri"})),
                ],
            ),
        ),
        (
            "DeviceCode",
            request::<device::DeviceCodeForm>(&["user_code"], &[("user_code", json!({"minLength": 1}))]),
        ),
        (
            "IntrospectionRequest",
            request::<introspect::IntrospectionRequest>(
                &["token", "client_id"],
                &[("token", json!({"minLength": 1})), ("client_id", json!({"minLength": 1}))],
            ),
        ),
        ("Introspection", introspection()),
        ("Metadata", metadata()),
        ("Jwks", jwks()),
        ("Health", answer::<health::Health>(&[], &[("status", json!({"enum": ["ok"]}))])),
        ("Error", answer::<ErrorBody<'_>>(&[], &[])),
    ];
    schemas.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

fn account() -> Value {
    let time = || json!({"format": "date-time"});
    let wallet = derived::<data::WalletBody>(&[("linked_at", time())]);
    let app = derived::<data::AppBody>(&[
        ("client_id", json!({"format": "uuid"})),
        ("scope", json!({"pattern": SCOPES})),
        ("granted_at", time()),
        ("last_used_at", time()),
    ]);
    let session = derived::<data::SessionBody>(&[
        ("id", json!({"format": "uuid"})),
        ("authenticated_at", time()),
        ("last_used_at", time()),
        ("expires_at", time()),
    ]);
    let mut schema = answer::<data::AccountBody>(
        &[],
        &[
            ("sub", json!({"format": "uuid"})),
            ("preferred_username", json!({"pattern": "^User_[0-9a-f]{8}$"})),
            ("created_at", time()),
            ("wallets", json!({"items": wallet})),
            ("apps", json!({"items": app})),
            ("sessions", json!({"items": session})),
        ],
    );
    let mut email = derived::<data::EmailBody>(&[
        ("address", json!({"format": "email"})),
        ("added_at", time()),
        ("verified_at", time()),
    ]);
    email["description"] = json!("The e-mail address, if one is on file.");
    schema["properties"]["email"] = email;
    schema
}

/// What is sent: the handlers find missing fields themselves, so that the types do not know which are required. What is
/// not required may also be null.
fn request<T: Apiv2Schema>(required: &[&str], rules: &[(&str, Value)]) -> Value {
    let mut schema = derived::<T>(rules);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            if !required.contains(&name.as_str()) {
                property["nullable"] = Value::Bool(true);
            }
        }
    }
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// What is answered: `optional` are the lists that are left out when they are empty.
fn answer<T: Apiv2Schema>(optional: &[&str], rules: &[(&str, Value)]) -> Value {
    let mut schema = derived::<T>(rules);
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_none_or(|name| !optional.contains(&name)));
    }
    schema
}

/// The schema that the derive made. Swagger's schemas of objects mean the same in OpenAPI 3.
fn derived<T: Apiv2Schema>(rules: &[(&str, Value)]) -> Value {
    let mut schema = serde_json::to_value(T::raw_schema()).unwrap_or_default();
    for (name, rule) in rules {
        let property = &mut schema["properties"][*name];
        if let (Value::Object(property), Value::Object(rule)) = (property, rule) {
            property.extend(rule.clone());
        }
    }
    schema
}

fn redirect_uri() -> Value {
    json!({"type": "string", "maxLength": 2048, "pattern": format!("^({WEB_ADDRESS}|{APP_ADDRESS})$")})
}

fn client_request() -> Value {
    let web_address = json!({"maxLength": 2048, "pattern": format!("^{WEB_ADDRESS}$")});
    let scope = json!({"type": "string", "enum": Scope::ALL.map(Scope::name)});
    let mut schema = request::<clients::ClientRequest>(
        &["client_name", "redirect_uris"],
        &[
            ("client_name", json!({"minLength": 1, "maxLength": 100, "pattern": READABLE})),
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
                json!({"maxItems": 10, "items": {"type": "string", "maxLength": 254, "pattern": READABLE}}),
            ),
            ("tos_uri", web_address.clone()),
            ("policy_uri", web_address.clone()),
            ("jwks_uri", web_address),
            ("application_type", json!({"enum": ["web", "native", null]})),
            ("id_token_signed_response_alg", json!({"enum": ["RS256", "ES256", "EdDSA", null]})),
            ("post_logout_redirect_uris", json!({"maxItems": 20, "items": redirect_uri()})),
        ],
    );
    // Two pairs say the same thing in two ways; of `scope` and `scopes` both are taken if they agree.
    schema["allOf"] =
        json!([{"not": {"required": ["scope", "scopes"]}}, {"not": {"required": ["jwks", "jwks_uri"]}}]);
    schema
}

/// Both, or only codes: refresh tokens cannot be had without them.
fn grant_types() -> Value {
    json!({
        "minItems": 1,
        "items": {"type": "string", "enum": ["authorization_code", "refresh_token", GrantType::DeviceCode.name()]},
        "not": {"items": {"enum": ["refresh_token"]}},
    })
}

fn client() -> Value {
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

/// Which fields are needed depends on the grant type.
fn token_request() -> Value {
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

/// The authorization request has no type of its own: it is judged by its parameters, some of which may not repeat.
fn authorization_request() -> Value {
    let mut properties = Map::new();
    for parameter in AUTHORIZATION_PARAMETERS {
        let mut schema = parameter.schema();
        schema["description"] = json!(parameter.description);
        properties.insert(parameter.name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "description": "An authorization request.",
        "required": required_authorization_parameters(),
        "properties": properties,
    })
}

/// The same, from a client that may have to prove who it is.
fn pushed_authorization_request() -> Value {
    let mut schema = authorization_request();
    schema["description"] = json!("An authorization request that is sent ahead.");
    schema["properties"]["client_secret"] = json!({
        "type": "string",
        "description": "The client's secret, unless HTTP Basic carries it or the client is public.",
    });
    schema
}

/// `aud` is a text or a list, which no type of ours says.
fn introspection() -> Value {
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

/// A parameter of the authorization request.
pub(super) struct AuthorizationParameter {
    pub(super) name: &'static str,
    pub(super) required: bool,
    pub(super) description: &'static str,
    pub(super) example: &'static str,
    values: &'static [&'static str],
}

impl AuthorizationParameter {
    pub(super) fn schema(&self) -> Value {
        let mut schema = json!({"type": "string"});
        if self.required {
            schema["minLength"] = json!(1);
        }
        if !self.values.is_empty() {
            schema["enum"] = json!(self.values);
        }
        schema
    }
}

fn required_authorization_parameters() -> Vec<&'static str> {
    AUTHORIZATION_PARAMETERS
        .iter()
        .filter(|parameter| parameter.required)
        .map(|parameter| parameter.name)
        .collect()
}

/// All parameters that mean something; others are ignored.
pub(super) const AUTHORIZATION_PARAMETERS: [AuthorizationParameter; 13] = [
    AuthorizationParameter {
        name: "client_id",
        required: true,
        description: "The registered client.",
        example: super::examples::CLIENT_ID,
        values: &[],
    },
    AuthorizationParameter {
        name: "redirect_uri",
        required: true,
        description: "One of its redirect URIs, byte for byte; on a loopback IP address the port may differ.",
        example: super::examples::REDIRECT_URI,
        values: &[],
    },
    AuthorizationParameter {
        name: "response_type",
        required: true,
        description: "Always `code`.",
        example: "code",
        values: &["code"],
    },
    AuthorizationParameter {
        name: "scope",
        required: true,
        description: "Scopes that the client registered, separated by spaces. Only a request with an S256 `code_challenge` may \
                      leave it out, and then means all of them.",
        example: "profile",
        values: &[],
    },
    AuthorizationParameter {
        name: "state",
        required: true,
        description: "Comes back with the answer; the client compares it. Only a request with an S256 `code_challenge` may \
                      leave it out.",
        example: super::examples::STATE,
        values: &[],
    },
    AuthorizationParameter {
        name: "code_challenge",
        required: false,
        description: "PKCE: base64url of the SHA-256 of the verifier. Public clients must use it.",
        example: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        values: &[],
    },
    AuthorizationParameter {
        name: "code_challenge_method",
        required: false,
        description: "PKCE: always `S256`; `plain` is refused.",
        example: "S256",
        values: &["S256"],
    },
    AuthorizationParameter {
        name: "nonce",
        required: false,
        description: "OpenID Connect: at most 512 bytes.",
        example: "n-0S6_WzA2Mj",
        values: &[],
    },
    AuthorizationParameter {
        name: "prompt",
        required: false,
        description: "OpenID Connect: `login`, `consent` and `select_account` ask for a new signature; `none` is answered \
                      without a page: with a code for whoever is signed in and agreed before (never for self-registered \
                      clients), otherwise with `login_required` or `consent_required`.",
        example: "login",
        values: &[],
    },
    AuthorizationParameter {
        name: "max_age",
        required: false,
        description: "OpenID Connect: how old a remembered sign-in may be, in seconds.",
        example: "3600",
        values: &[],
    },
    AuthorizationParameter {
        name: "login_hint",
        required: false,
        description: "The wallet address that the person is expected to use.",
        example: super::examples::WALLET,
        values: &[],
    },
    AuthorizationParameter {
        name: "ui_locales",
        required: false,
        description: "OpenID Connect: the languages that the person reads, the best first.",
        example: "pt-BR en",
        values: &[],
    },
    AuthorizationParameter {
        name: "response_mode",
        required: false,
        description: "How the answer reaches the client: `query`, by a redirect, or `form_post`, by a form that the browser posts.",
        example: "form_post",
        values: &["query", "form_post"],
    },
];

fn metadata() -> Value {
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

/// The keys come from the signer as a document, so that no type of this crate describes them.
fn jwks() -> Value {
    let member = |description: &str| json!({"type": "string", "description": description});
    json!({
        "type": "object",
        "description": "The public keys (RFC 7517).",
        "required": ["keys"],
        "properties": {
            "keys": {
                "type": "array",
                "description": "Those that sign now, those that will, and those that signed.",
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
