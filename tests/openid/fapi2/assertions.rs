//! Client assertions at the token endpoint (RFC 7523) that are not valid. None of them uses up the code.

use countersign_tests::jose::{SigningKey, now};
use countersign_tests::openid::{Provider, with_assertion};
use serde_json::{Value, json};

use super::{Fapi, client};
use crate::suite::Suite;

/// An assertion signed with RS256 is refused if the client registered PS256, even though the key is the same.
#[test]
fn fapi2_security_profile_final_ensure_signed_client_assertion_with_rs256_fails() {
    let suite = Suite::start();
    let party = client(&suite, SigningKey::rsa("PS256"));
    let fapi = Fapi { suite, party };
    let header = json!({"alg": "RS256", "kid": fapi.party.key().jwk()["kid"]});
    refused(&fapi, |claims| Some(fapi.party.key().sign_with(&header, &claims)));
}

/// A token request without a client assertion is refused.
#[test]
fn fapi2_security_profile_final_ensure_client_assertion_in_token_endpoint() {
    refused(&Fapi::start(), |_| None);
}

/// An assertion that expired five minutes ago is refused.
#[test]
fn fapi2_security_profile_final_ensure_client_assertion_with_exp_is_5_minutes_in_past_fails() {
    refused_with("exp", &json!(now() - 300));
}

/// An assertion for another server is refused.
#[test]
fn fapi2_security_profile_final_ensure_client_assertion_with_wrong_aud_fails() {
    refused_with("aud", &json!("https://other.example"));
}

/// An assertion without `sub` is refused.
#[test]
fn fapi2_security_profile_final_ensure_client_assertion_with_no_sub_fails() {
    refused_with("sub", &Value::Null);
}

/// The id of one client with an assertion about it that another client signed is refused.
#[test]
fn fapi2_security_profile_final_ensure_client_id_in_token_endpoint() {
    let fapi = Fapi::start();
    let second = client(&fapi.suite, SigningKey::es256());
    refused(&fapi, |mut claims| {
        (claims["iss"], claims["sub"]) = (json!(second.id), json!(second.id));
        Some(fapi.party.key().sign(&claims))
    });
}

/// Changes one claim of the assertion; `null` removes it.
#[track_caller]
fn refused_with(name: &str, value: &Value) {
    let fapi = Fapi::start();
    refused(&fapi, |mut claims| {
        if value.is_null() {
            claims.as_object_mut()?.remove(name);
        } else {
            claims[name] = value.clone();
        }
        Some(fapi.party.key().sign(&claims))
    });
}

/// Tries to redeem a code with a changed assertion, which fails, and then with a valid one, which succeeds.
#[track_caller]
fn refused(fapi: &Fapi, assertion: impl Fn(Value) -> Option<String>) {
    let (request, code) = fapi.code();
    let form = Provider::exchange_form(&request, &code);
    let proof = || assertion(fapi.party.assertion(fapi));
    let form = if proof().is_none() { form.with("client_id", &fapi.party.id) } else { form };
    let answered = fapi.exchange_as(&form, |request| match proof() {
        Some(assertion) => with_assertion(request, &assertion),
        None => request,
    });
    assert_eq!(answered.verdict(), "401 invalid_client", "{answered:?}");
    fapi.redeem(&fapi.party, &request, &code);
}
