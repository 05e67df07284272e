//! The schemas of requests and answers. Names, types, descriptions and required fields come from the types;
//! the rules about values, which a type does not show, are added here. A schema that needs more than a line
//! or two of rules has a file of its own.

mod authorization_request;
pub(crate) mod clients;
mod discovery;
mod tokens;

use countersign_usecases::account::read_events::OWN_EVENTS_ON_A_PAGE;
use paperclip::v2::schema::Apiv2Schema;
use serde_json::{Map, Value, json};

use crate::endpoint::account::{data, email, events, forms, naming, wallets};
use crate::endpoint::sign_in::{
    answer as leaving, challenge, continue_session, deny, device, device_authorization, login, logout, push,
    verify,
};
use crate::endpoint::site::health;
use crate::endpoint::tokens::{introspect, revoke, token, userinfo};
use crate::error::ErrorBody;
use crate::openapi::formats;

/// A dot-string (RFC 5321) at a domain whose top-level label is letters only.
const EMAIL: &str = r"^[a-z0-9]{1,32}([.+-][a-z0-9]{1,20})?@[a-z0-9]{1,32}\.[a-z]{2,10}$";
/// A session by its id, `this` or `all`.
const SESSION: &str = "^(this|all|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$";
const SCOPES: &str = "^(openid|profile|email|offline_access|wallets|wallet_proof|groups)( (openid|profile|email|offline_access|wallets|wallet_proof|groups))*$";
const SIGNATURE_VERDICTS: [&str; 7] =
    ["valid", "invalid", "names_another", "undecided", "unclear_account", "no_account", "absent"];

pub(super) fn all() -> Map<String, Value> {
    let schemas = of_clients_and_texts().into_iter().chain(of_people()).chain(of_tokens());
    schemas.map(|(name, schema)| (name.to_owned(), schema)).collect()
}

/// Each with its name.
type Schemas = Vec<(&'static str, Value)>;

/// What registers, asks for a sign-in, and is signed.
fn of_clients_and_texts() -> Schemas {
    vec![
        ("ClientRequest", clients::client_request()),
        ("Client", clients::client()),
        ("AuthorizationRequest", authorization_request::authorization_request()),
        ("LogoutRequest", logout::description::logout_request()),
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
    ]
}

/// What a browser sends from the pages of a person.
fn of_people() -> Schemas {
    vec![
        ("Wallets", answer::<wallets::WalletsAnswer>(&[], &[])),
        ("Redirect", answer::<leaving::RedirectAnswer>(&[], &[("redirect_to", json!({"format": "uri"}))])),
        (
            "ContinueRequest",
            request::<continue_session::ContinueRequest>(
                &["client_id", "redirect_uri", "wallet_account", "form"],
                &[],
            ),
        ),
        ("Account", account()),
        ("OwnEvents", own_events()),
        (
            "RevokeAccessRequest",
            request::<forms::RevokeAccessRequest>(
                &["client_id", "form"],
                &[("client_id", json!({"format": "uuid"}))],
            ),
        ),
        (
            "EndSessionsRequest",
            request::<forms::EndSessionsRequest>(
                &["session", "form"],
                &[("session", json!({"pattern": SESSION}))],
            ),
        ),
        (
            "DeleteAccountRequest",
            request::<forms::DeleteAccountRequest>(
                &["confirm", "form"],
                &[("confirm", json!({"enum": ["yes"]}))],
            ),
        ),
        (
            "RenameWalletRequest",
            request::<naming::RenameWalletRequest>(
                &["wallet_account", "name", "form"],
                &[("kind", json!({"enum": ["key", "contract"]}))],
            ),
        ),
        (
            "EmailRequest",
            request::<email::EmailRequest>(
                &["email", "form"],
                &[("email", json!({"pattern": EMAIL, "maxLength": 254}))],
            ),
        ),
        (
            "ConfirmEmailRequest",
            request::<email::ConfirmEmailRequest>(&["token", "form"], &[("token", json!({"minLength": 1}))]),
        ),
        ("DenyRequest", request::<deny::DenyRequest>(&["client_id", "redirect_uri", "form"], &[])),
        ("PlainForm", request::<crate::endpoint::account::PlainForm>(&[], &[])),
    ]
}

/// What an application exchanges with the server.
fn of_tokens() -> Schemas {
    vec![
        ("TokenRequest", tokens::token_request()),
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
        ("PushedAuthorizationRequest", authorization_request::pushed_authorization_request()),
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
            request::<device::DeviceCodeForm>(
                &["user_code", "form"],
                &[("user_code", json!({"minLength": 1}))],
            ),
        ),
        (
            "IntrospectionRequest",
            request::<introspect::IntrospectionRequest>(
                &["token", "client_id"],
                &[("token", json!({"minLength": 1})), ("client_id", json!({"minLength": 1}))],
            ),
        ),
        ("Introspection", tokens::introspection()),
        ("Metadata", discovery::metadata()),
        ("Jwks", discovery::jwks()),
        ("Health", answer::<health::Health>(&[], &[("status", json!({"enum": ["ok"]}))])),
        ("Error", answer::<ErrorBody<'_>>(&[], &[])),
    ]
}

fn account() -> Value {
    let time = || json!({"format": "date-time"});
    let wallet = derived::<data::WalletBody>(&[("linked_at", time())]);
    let app = derived::<data::AppBody>(&[
        ("client_id", json!({"format": "uuid"})),
        ("sub", json!({"format": "uuid"})),
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
    let invitation = derived::<data::InvitationBody>(&[("accepted_at", time())]);
    let mut schema = answer::<data::AccountBody>(
        &[],
        &[
            ("sub", json!({"format": "uuid"})),
            ("preferred_username", json!({"pattern": "^User_[0-9a-f]{8}$"})),
            ("created_at", time()),
            ("wallets", json!({"items": wallet})),
            ("apps", json!({"items": app})),
            ("invitations", json!({"items": invitation})),
            ("sessions", json!({"items": session})),
        ],
    );
    let mut email = derived::<data::EmailBody>(&[
        ("address", json!({"format": "email"})),
        ("added_at", time()),
        ("verified_at", time()),
    ]);
    email["description"] = json!("The e-mail address on file, if there is one.");
    schema["properties"]["email"] = email;
    schema
}

fn own_events() -> Value {
    let event = derived::<events::OwnEventBody>(&[
        ("id", json!({"format": "uuid"})),
        ("at", json!({"format": "date-time"})),
        ("what", json!({"enum": events::OwnEventBody::whats()})),
        ("client_id", json!({"format": "uuid"})),
    ]);
    answer::<events::OwnEventsBody>(
        &[],
        &[
            ("since", json!({"format": "date-time"})),
            ("events", json!({"items": event, "maxItems": OWN_EVENTS_ON_A_PAGE})),
            ("next", json!({"format": "uuid"})),
        ],
    )
}

/// The schema of a request. The handlers look for missing fields themselves, so the types do not know which
/// fields are required. A field that is not required may also be null.
fn request<T: Apiv2Schema>(required: &[&str], rules: &[(&str, Value)]) -> Value {
    request_of(derived::<T>(&[]), required, rules)
}

fn request_of(schema: Value, required: &[&str], rules: &[(&str, Value)]) -> Value {
    let mut schema = ruled(schema, rules);
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

/// The schema of an answer. `optional` names the lists that are left out when they are empty.
fn answer<T: Apiv2Schema>(optional: &[&str], rules: &[(&str, Value)]) -> Value {
    answer_of(derived::<T>(rules), optional)
}

fn answer_of(mut schema: Value, optional: &[&str]) -> Value {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_none_or(|name| !optional.contains(&name)));
    }
    formats::name(&mut schema);
    schema
}

/// The schema that the derive made, with `rules` added. The derive makes Swagger 2 schemas, which mean the
/// same in OpenAPI 3 for objects.
fn derived<T: Apiv2Schema>(rules: &[(&str, Value)]) -> Value {
    ruled(serde_json::to_value(T::raw_schema()).unwrap_or_default(), rules)
}

/// Adds rules to the fields of a schema.
fn ruled(mut schema: Value, rules: &[(&str, Value)]) -> Value {
    for (name, rule) in rules {
        let property = &mut schema["properties"][*name];
        if let (Value::Object(property), Value::Object(rule)) = (property, rule) {
            property.extend(rule.clone());
        }
    }
    schema
}
