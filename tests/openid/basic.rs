//! The plan "Basic OP" (`oidcc-basic-certification-test-plan`): the code flow of a client with a secret
//! (C-01).

pub(crate) mod codes;
mod requests;
mod unsupported;

use countersign_tests::Request;
use countersign_tests::openid::{Answer, Method, Party, Person};
use serde_json::{Value, json};

use crate::suite::Suite;

/// A client completes the whole flow with HTTP Basic, validates its ID token, and gets the same user from
/// userinfo.
#[test]
fn oidcc_server() {
    let suite = Suite::start();
    let party = suite.client();
    assert!(matches!(party.method, Method::Basic(_)));
    let answer = suite.log_in(&party, &party.request());
    assert_eq!(told(&suite, &party, &answer)["sub"], answer.claims["sub"]);
}

/// The same with the secret in the form (`client_secret_post`).
#[test]
fn oidcc_server_client_secret_post() {
    let suite = Suite::start();
    assert!(suite.list("token_endpoint_auth_methods_supported").contains("client_secret_post"));
    let party = suite.register(&json!({"token_endpoint_auth_method": "client_secret_post"}));
    assert!(matches!(party.method, Method::Post(_)));
    suite.log_in(&party, &party.request());
}

/// An authorization request without `response_type` is redirected back with `invalid_request`.
#[test]
fn oidcc_response_type_missing() {
    let suite = Suite::start();
    let party = suite.client();
    let request = party.request().without("response_type");
    assert_eq!(Person::new(&suite).answer(&suite, &request).error(), "invalid_request");
}

/// If the client registered no algorithm, its ID token is signed with RS256, by a key whose `kid` is in the
/// JWKS.
#[test]
fn oidcc_idtoken_signature() {
    let suite = Suite::start();
    let party = suite.client();
    assert_eq!(party.id_token_algorithm(), "RS256");
    suite.log_in(&party, &party.request());
}

/// Unsigned ID tokens are not offered, and a client that asks for them cannot register.
#[test]
fn oidcc_idtoken_unsigned() {
    let suite = Suite::start();
    assert!(!suite.list("id_token_signing_alg_values_supported").contains("none"));
    let refused = suite.ask_to_register(&json!({"id_token_signed_response_alg": "none"}));
    assert_eq!(refused.verdict(), "400 invalid_client_metadata");
}

/// Userinfo accepts a GET with the token in the header. It returns JSON with the `sub` of the ID token and
/// claims of the right types.
#[test]
fn oidcc_userinfo_get() {
    let suite = Suite::start();
    let party = suite.client();
    let answer = suite.log_in(&party, &party.request().with("scope", "openid profile email"));
    told(&suite, &party, &answer);
}

/// Userinfo accepts a POST with the token in the header, with the same response.
#[test]
fn oidcc_userinfo_post_header() {
    let suite = Suite::start();
    let party = suite.client();
    let answer = suite.log_in(&party, &party.request());
    let asked = Request::new("POST", &suite.path("userinfo_endpoint")).bearer(&answer.access);
    assert_eq!(suite.site.send(&asked).expect(200).json(), told(&suite, &party, &answer));
}

/// Userinfo accepts a POST with the token in the form, with the same response.
#[test]
fn oidcc_userinfo_post_body() {
    let suite = Suite::start();
    let party = suite.client();
    let answer = suite.log_in(&party, &party.request());
    let form = countersign_tests::Parameters::of(&[("access_token", &answer.access)]);
    let asked = Request::form(&suite.path("userinfo_endpoint"), &form);
    assert_eq!(suite.site.send(&asked).expect(200).json(), told(&suite, &party, &answer));
}

/// A request without a `nonce` succeeds in the code flow, and the ID token has none.
#[test]
fn oidcc_ensure_request_without_nonce_succeeds_for_code_flow() {
    let suite = Suite::start();
    let party = suite.client();
    let answer = suite.log_in(&party, &party.request().without("nonce"));
    assert_eq!(answer.claims.get("nonce"), None);
}

/// Scope `profile` releases its claims at userinfo: a name, a preferred username and a picture.
#[test]
fn oidcc_scope_profile() {
    let (claims, told) = released("openid profile");
    for name in ["name", "preferred_username", "picture"] {
        assert!(told[name].is_string(), "{name} in {told}");
        assert_eq!(claims[name], told[name]);
    }
    assert_eq!(told.get("email"), None);
}

/// Scope `email` releases the user's e-mail address and whether it is verified.
#[test]
fn oidcc_scope_email() {
    let (claims, told) = released("openid email");
    assert_eq!((&told["email"], &told["email_verified"]), (&json!(EMAIL), &json!(false)));
    assert_eq!(claims["email"], told["email"]);
    assert_eq!(told.get("picture"), None);
}

/// A request for all scopes that release claims releases the claims of each.
#[test]
fn oidcc_scope_all() {
    let suite = Suite::start();
    for scope in ["openid", "profile", "email"] {
        assert!(suite.list("scopes_supported").contains(scope), "{scope}");
    }
    let (_, told) = released("openid profile email wallets");
    for name in ["name", "preferred_username", "picture", "email", "email_verified", "wallets"] {
        assert!(told.get(name).is_some(), "{name} in {told}");
    }
}

/// The order of the parameters and of the scopes does not matter.
#[test]
fn oidcc_alternate_happy_flow() {
    let suite = Suite::start();
    let party = suite.client();
    let mut request = party.request().with("scope", "email openid");
    request.0.reverse();
    let answer = suite.log_in(&party, &request);
    assert!(["openid email", "email openid"].contains(&answer.body["scope"].as_str().unwrap()));
}

const EMAIL: &str = "anna@example.com";

/// The claims of an ID token and those of userinfo, for a user with an e-mail address.
#[track_caller]
fn released(scope: &str) -> (Value, Value) {
    let suite = Suite::start();
    let party = suite.client();
    let mut person = Person::new(&suite);
    person.email = Some(EMAIL.to_owned());
    let request = party.request().with("scope", scope);
    let code = person.answer(&suite, &request).code();
    let answer = suite.redeem(&party, &request, &code);
    let told = told(&suite, &party, &answer);
    (answer.claims, told)
}

/// The response of userinfo, after the suite's checks of it.
#[track_caller]
pub(crate) fn told(suite: &Suite, party: &Party, answer: &Answer) -> Value {
    let answered = suite.userinfo(party, &answer.access).expect(200);
    assert_eq!(answered.header("Content-Type"), Some("application/json"));
    let told = answered.json();
    assert_eq!(told["sub"], answer.claims["sub"], "OpenID Connect Core section 5.3.2");
    for (name, value) in told.as_object().unwrap() {
        let is_right = match name.as_str() {
            "email_verified" | "phone_number_verified" => value.is_boolean(),
            "updated_at" => value.is_i64(),
            "address" => value.is_object(),
            "wallets" => value.is_array(),
            _ => value.as_str().is_some_and(|text| !text.is_empty()),
        };
        assert!(is_right, "{name} in {told}");
    }
    told
}
