//! The document agrees with the routes, with the types and with itself.

use std::collections::BTreeSet;

use countersign_domain::public_url::PublicUrl;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{document, openapi_json};
use crate::endpoint::account::{email, forms, naming, wallets};
use crate::endpoint::clients;
use crate::endpoint::sign_in::{
    challenge, continue_session, deny, device, device_authorization, login, verify,
};
use crate::endpoint::tokens::{introspect, revoke, token, userinfo};
use crate::server::routes::{WITH_SESSION, WITHOUT_SESSION};

fn made() -> Value {
    document(&PublicUrl::parse("https://auth.example.com").unwrap())
}

/// All operations as method, path and description.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, methods)| {
            methods
                .as_object()
                .unwrap()
                .iter()
                .map(|(method, operation)| (method.to_uppercase(), path.clone(), operation.clone()))
        })
        .collect()
}

fn schema<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// The examples of a media type, in either form: `example` or `examples`.
fn examples(media: &Value) -> Vec<Value> {
    let many =
        media["examples"].as_object().into_iter().flatten().map(|(_, example)| example["value"].clone());
    media.get("example").cloned().into_iter().chain(many).collect()
}

fn reads<T: DeserializeOwned>(example: &Value) {
    serde_json::from_value::<T>(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
}

/// Asserts that the value has all fields that the schema requires, no others than it knows, and the right
/// types.
fn assert_fits(document: &Value, given: &Value, value: &Value) {
    let schema = schema(document, given);
    match schema["type"].as_str() {
        Some("object") => {
            let object = value.as_object().unwrap_or_else(|| panic!("{value} is not an object"));
            for name in schema["required"].as_array().into_iter().flatten() {
                assert!(object.contains_key(name.as_str().unwrap()), "{name} is missing in {value}");
            }
            for (name, value) in object {
                match schema["properties"].get(name) {
                    Some(property) => assert_fits(document, property, value),
                    None => assert!(schema.get("properties").is_none(), "{name} is not described"),
                }
            }
        }
        Some("array") => {
            let items = value.as_array().unwrap_or_else(|| panic!("{value} is not a list"));
            items.iter().for_each(|item| assert_fits(document, &schema["items"], item));
        }
        Some("string") => assert!(value.is_string(), "{value} is not a string"),
        Some("integer") => assert!(value.is_i64(), "{value} is not an integer"),
        Some("boolean") => assert!(value.is_boolean(), "{value} is neither true nor false"),
        None if schema["oneOf"].is_array() => {
            assert!(value.is_string() || value.is_array(), "{value} is neither a string nor a list");
        }
        other => panic!("type {other:?} in {schema}"),
    }
}

#[test]
fn the_document_describes_every_route_and_no_other() {
    let described: BTreeSet<_> =
        operations(&made()).into_iter().map(|(method, path, _)| (method, path)).collect();
    // HEAD goes with GET, and OPTIONS is the preflight. Both are described once, in the introduction.
    let served: BTreeSet<_> = WITHOUT_SESSION
        .iter()
        .chain(&WITH_SESSION)
        .flat_map(|endpoint| {
            endpoint.allow.split(", ").map(|method| (method.to_owned(), endpoint.path.to_owned()))
        })
        .filter(|(method, _)| method != "HEAD" && method != "OPTIONS")
        .collect();
    assert_eq!(described, served);
}

#[test]
fn every_field_has_a_description() {
    let document = made();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(schema["description"].is_string(), "{name}");
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            assert!(!property["description"].as_str().unwrap_or_default().is_empty(), "{name}.{field}");
        }
    }
}

#[test]
fn every_request_and_every_answer_has_an_example_that_fits() {
    let document = made();
    for (method, path, operation) in operations(&document) {
        let bodies = operation["requestBody"]["content"].as_object().into_iter().flatten();
        let answers = operation["responses"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|response| response["content"].as_object().into_iter().flatten());
        for (media, content) in bodies.chain(answers) {
            let examples = examples(content);
            assert!(!examples.is_empty(), "{method} {path}: {media}");
            examples.iter().for_each(|example| assert_fits(&document, &content["schema"], example));
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["example"].is_string(), "{method} {path}: {parameter}");
        }
    }
}

#[test]
fn the_examples_of_requests_are_read_by_the_endpoints() {
    let document = made();
    for (_, _, operation) in operations(&document) {
        for (_, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
            let read: fn(&Value) = match content["schema"]["$ref"].as_str().unwrap() {
                "#/components/schemas/ClientRequest" => reads::<clients::ClientRequest>,
                "#/components/schemas/ChallengeRequest" => reads::<challenge::ChallengeRequest>,
                "#/components/schemas/LoginRequest" => reads::<login::LoginRequest>,
                "#/components/schemas/WalletChangeRequest" => reads::<wallets::WalletChangeRequest>,
                "#/components/schemas/SignedWalletChange" => reads::<wallets::SignedChange>,
                "#/components/schemas/VerifyRequest" => reads::<verify::VerifyRequest>,
                "#/components/schemas/ContinueRequest" => reads::<continue_session::ContinueRequest>,
                "#/components/schemas/RevokeAccessRequest" => reads::<forms::RevokeAccessRequest>,
                "#/components/schemas/EndSessionsRequest" => reads::<forms::EndSessionsRequest>,
                "#/components/schemas/DeleteAccountRequest" => reads::<forms::DeleteAccountRequest>,
                "#/components/schemas/RenameWalletRequest" => reads::<naming::RenameWalletRequest>,
                "#/components/schemas/EmailRequest" => reads::<email::EmailRequest>,
                "#/components/schemas/ConfirmEmailRequest" => reads::<email::ConfirmEmailRequest>,
                "#/components/schemas/PlainForm" => reads::<crate::endpoint::account::PlainForm>,
                "#/components/schemas/DenyRequest" => reads::<deny::DenyRequest>,
                "#/components/schemas/TokenRequest" => reads::<token::TokenForm>,
                "#/components/schemas/UserInfoForm" => reads::<userinfo::UserInfoForm>,
                "#/components/schemas/RevocationRequest" => reads::<revoke::RevokeRequest>,
                "#/components/schemas/DeviceRequest" => reads::<device_authorization::DeviceForm>,
                "#/components/schemas/DeviceCode" => reads::<device::DeviceCodeForm>,
                "#/components/schemas/IntrospectionRequest" => reads::<introspect::IntrospectionRequest>,
                // Parameters have no type that could read them. Another test checks that they are described.
                "#/components/schemas/AuthorizationRequest"
                | "#/components/schemas/LogoutRequest"
                | "#/components/schemas/PushedAuthorizationRequest" => |_| {},
                other => panic!("no endpoint reads {other}"),
            };
            examples(content).iter().for_each(read);
        }
    }
}

#[test]
fn every_operation_says_how_it_refuses() {
    for (method, path, operation) in operations(&made()) {
        let responses = operation["responses"].as_object().unwrap();
        let statuses: BTreeSet<&str> = responses.keys().map(String::as_str).collect();
        assert!(statuses.is_superset(&BTreeSet::from(["405", "414", "431", "500"])), "{method} {path}");
        if operation.get("requestBody").is_some() {
            assert!(statuses.is_superset(&BTreeSet::from(["408", "413", "415"])), "{method} {path}");
        }
        for (status, response) in responses {
            assert!(!response["description"].as_str().unwrap().is_empty(), "{method} {path} {status}");
            assert!(response["headers"]["X-Request-Id"].is_object(), "{method} {path} {status}");
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn check(document: &Value, value: &Value) {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
        match value {
            Value::Object(members) => members.values().for_each(|member| check(document, member)),
            Value::Array(items) => items.iter().for_each(|item| check(document, item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = made();
    check(&document, &document);
}

#[test]
fn a_099_the_document_names_the_cookie_that_the_server_sets() {
    let by_https = openapi_json(&PublicUrl::parse("https://auth.example.com").unwrap());
    let by_http = openapi_json(&PublicUrl::parse("http://localhost:8080").unwrap());
    assert!(by_https.contains(r#""name":"__Host-oauth_session""#));
    assert!(by_http.contains(r#""name":"oauth_session""#));
}
