//! Request objects. The suite lets a provider support them or refuse them by name. This one refuses, and
//! fetches nothing.

use countersign_tests::jose::unsigned;
use countersign_tests::openid::Person;
use serde_json::json;

use super::codes::assert_shown;
use crate::suite::Suite;

/// A request object by reference is refused with the error `request_uri_not_supported`.
#[test]
fn oidcc_request_uri_unsigned_supported_correctly_or_rejected_as_unsupported() {
    let suite = Suite::start();
    assert_eq!(suite.metadata["request_uri_parameter_supported"], json!(false));
    let party = suite.client();
    let request = party.request().with("request_uri", "https://client.example/request.jwt");
    assert_eq!(Person::new(&suite).answer(&suite, &request).error(), "request_uri_not_supported");
}

/// An unsigned request object is refused with the error `request_not_supported`.
#[test]
fn oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported() {
    let suite = Suite::start();
    assert_eq!(suite.metadata["request_parameter_supported"], json!(false));
    let party = suite.client();
    let request = party.request();
    let object = unsigned(&json!({}), &request.json());
    assert_eq!(
        Person::new(&suite).answer(&suite, &request.with("request", &object)).error(),
        "request_not_supported"
    );
}

/// A valid redirect URI inside a request object does not make up for an invalid one outside it: there is an
/// error page.
#[test]
fn oidcc_ensure_request_object_with_redirect_uri() {
    let suite = Suite::start();
    let party = suite.client();
    let request = party.request();
    let object = unsigned(&json!({}), &request.json());
    let request = request.with("redirect_uri", "https://client.example/other").with("request", &object);
    assert_shown(Person::new(&suite).visit(&suite, &request));
}
