//! The plan "Dynamic OP" (`oidcc-dynamic-certification-test-plan`): clients that register themselves and
//! authenticate with a key (`private_key_jwt`; C-03).

mod keys;
mod registration;

use countersign_tests::jose::SigningKey;
use countersign_tests::openid::{Party, Person};
use serde_json::{Value, json};

use crate::basic::codes::{assert_shown, refresh_tokens_are_bound_to};
use crate::config;
use crate::suite::Suite;

const REDIRECT_URI: &str = "https://client.example/cb";
const WITH_QUERY: &str = "https://client.example/cb?foo=bar";

/// A client that registered with its keys completes the whole flow, and authenticates with a signed
/// assertion.
#[test]
fn oidcc_server() {
    let suite = Suite::start();
    let party = client(&suite, &json!({}));
    suite.log_in(&party, &party.request());
}

/// Everything that the plan "Config OP" checks, and the registration endpoint. The only response type is
/// `code`.
#[test]
fn oidcc_discovery_endpoint_verification() {
    let suite = Suite::start();
    config::verify(&suite);
    suite.path("registration_endpoint");
}

/// A client that registers RS256 for its ID tokens gets ID tokens signed with RS256.
#[test]
fn oidcc_idtoken_rs256() {
    let suite = Suite::start();
    let party = client(&suite, &json!({"id_token_signed_response_alg": "RS256"}));
    assert_eq!(party.id_token_algorithm(), "RS256");
    suite.log_in(&party, &party.request());
}

/// A client that authenticates with a key cannot get unsigned ID tokens either.
#[test]
fn oidcc_idtoken_unsigned() {
    let suite = Suite::start();
    let metadata = json!({
        "token_endpoint_auth_method": "private_key_jwt", "jwks": SigningKey::es256().jwks(),
        "id_token_signed_response_alg": "none",
    });
    assert_eq!(suite.ask_to_register(&metadata).verdict(), "400 invalid_client_metadata");
}

/// A request without `redirect_uri` gets an error page if the client registered two of them.
#[test]
fn oidcc_ensure_redirect_uri_in_authorization_request() {
    let suite = Suite::start();
    let party = client(&suite, &json!({"redirect_uris": [REDIRECT_URI, "https://client.example/second"]}));
    assert_shown(Person::new(&suite).visit(&suite, &party.request().without("redirect_uri")));
}

/// A redirect URI with a query works, and keeps its query.
#[test]
fn oidcc_redirect_uri_query_ok() {
    let suite = Suite::start();
    let party = client(&suite, &json!({"redirect_uris": [WITH_QUERY]}));
    assert_eq!(party.redirect_uri, WITH_QUERY);
    suite.log_in(&party, &party.request());
}

/// A redirect URI whose query differs from the registered one gets an error page.
#[test]
fn oidcc_redirect_uri_query_mismatch() {
    shows_a_page(WITH_QUERY, "https://client.example/cb?bar=foo");
}

/// A redirect URI with a query gets an error page if the registered one has none.
#[test]
fn oidcc_redirect_uri_query_added() {
    shows_a_page(REDIRECT_URI, WITH_QUERY);
}

/// A redirect URI with a fragment cannot be registered.
#[test]
fn oidcc_redirect_uri_regfrag() {
    let suite = Suite::start();
    let refused = suite.ask_to_register(&json!({"redirect_uris": [format!("{REDIRECT_URI}#fragment")]}));
    assert_eq!(refused.verdict(), "400 invalid_redirect_uri");
}

/// A valid redirect URI inside a request object does not make up for an invalid one outside it.
#[test]
fn oidcc_ensure_request_object_with_redirect_uri() {
    let suite = Suite::start();
    let party = client(&suite, &json!({}));
    let request = party.request();
    let object = party.key().sign(&request.json());
    let request = request.with("redirect_uri", "https://client.example/other").with("request", &object);
    assert_shown(Person::new(&suite).visit(&suite, &request));
}

/// The refresh tokens of clients with keys work, return a matching ID token, and are bound to the client that
/// got them.
#[test]
fn oidcc_refresh_token() {
    let suite = Suite::start();
    refresh_tokens_are_bound_to(&suite, &client(&suite, &json!({})), &client(&suite, &json!({})));
}

/// Registers a client that authenticates with a key.
#[track_caller]
pub(crate) fn client(suite: &Suite, metadata: &Value) -> Party {
    suite.register_with_key(SigningKey::es256(), metadata)
}

#[track_caller]
fn shows_a_page(registered: &str, asked: &str) {
    let suite = Suite::start();
    let party = client(&suite, &json!({"redirect_uris": [registered]}));
    assert_shown(Person::new(&suite).visit(&suite, &party.request().with("redirect_uri", asked)));
}
