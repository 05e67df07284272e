//! What can be pushed, and who can push it (RFC 9126).

use countersign_tests::jose::{now, random_text};
use countersign_tests::openid::{Person, with_assertion};
use countersign_tests::{Request, Response};
use serde_json::{Value, json};

use super::{Fapi, PUSHED};

/// An unregistered redirect URI is refused when it is pushed. (The profile would allow one; this provider
/// does not.)
#[test]
fn fapi2_security_profile_final_plain_fapi_tolerate_unregistered_redirect_uri() {
    let fapi = Fapi::start();
    assert_invalid(&fapi.push(&fapi.request().with("redirect_uri", "https://client.example/unregistered")));
}

/// A request that was not pushed is refused.
#[test]
fn fapi2_security_profile_final_ensure_unsigned_authorization_request_without_using_par_fails() {
    let fapi = Fapi::start();
    let request = fapi.request();
    assert_eq!(Person::new(&fapi).answer(&fapi, &request).error(), "invalid_request");
}

/// A request without `redirect_uri` is refused when it is pushed.
#[test]
fn fapi2_security_profile_final_ensure_redirect_uri_in_authorization_request() {
    let fapi = Fapi::start();
    assert_invalid(&fapi.push(&fapi.request().without("redirect_uri")));
}

/// The same, even if the browser sends the parameter in its query instead.
#[test]
fn fapi2_security_profile_final_ensure_request_object_without_redirect_uri_fails() {
    let fapi = Fapi::start();
    let path = format!("{}?redirect_uri=https%3A%2F%2Fclient.example%2Fcb", fapi.path(PUSHED));
    let request = Request::form(&path, &fapi.request().without("redirect_uri"));
    assert_invalid(&fapi.site.send(&fapi.party.prove(&fapi, request)));
}

/// `response_type=code id_token` is refused: ID tokens are not sent through the browser.
#[test]
fn fapi2_security_profile_final_ensure_response_type_code_idtoken_fails() {
    let fapi = Fapi::start();
    let refused = fapi.push(&fapi.request().with("response_type", "code id_token"));
    assert_eq!(refused.verdict(), "400 unsupported_response_type");
}

/// `response_type=token` is refused: access tokens are not sent through the browser.
#[test]
fn fapi2_security_profile_final_ensure_response_type_token_fails() {
    let fapi = Fapi::start();
    let refused = fapi.push(&fapi.request().with("response_type", "token"));
    assert_eq!(refused.verdict(), "400 unsupported_response_type");
}

/// A pushed request that refers to another one is refused.
#[test]
fn fapi2_security_profile_final_par_authorization_request_containing_request_uri_form_param() {
    let fapi = Fapi::start();
    let reference = format!("urn:ietf:params:oauth:request_uri:{}", random_text());
    assert_invalid(&fapi.push(&fapi.request().with("request_uri", &reference)));
}

/// The endpoint accepts only POST.
#[test]
fn fapi2_security_profile_final_par_attempt_invalid_http_method() {
    let fapi = Fapi::start();
    let mut request = fapi.party.prove(&fapi, Request::form(&fapi.path(PUSHED), &fapi.request()));
    request.method = "PUT".to_owned();
    assert_eq!(fapi.site.send(&request).status, 405);
}

/// A request without PKCE is refused.
#[test]
fn fapi2_security_profile_final_par_ensure_pkce_required() {
    let fapi = Fapi::start();
    assert_invalid(&fapi.push(&fapi.party.request()));
}

/// A request whose PKCE method is `plain` is refused.
#[test]
fn fapi2_security_profile_final_par_plain_pkce_rejected() {
    let fapi = Fapi::start();
    assert_invalid(&fapi.push(&fapi.request().with("code_challenge_method", "plain")));
}

/// An assertion from eight seconds in the future is accepted, because clocks differ.
#[test]
fn fapi2_security_profile_final_par_ensure_jwt_client_assertions_nbf_8_seconds_in_the_future_is_accepted() {
    let ahead = now() + 8;
    push_with(|claims, _| (claims["nbf"], claims["iat"]) = (json!(ahead), json!(ahead))).expect(201);
}

/// An assertion from more than a minute in the future is refused.
#[test]
fn fapi2_security_profile_final_par_ensure_jwt_client_assertions_nbf_over_60_seconds_in_the_future_fails() {
    let ahead = now() + 70;
    assert_not_believed(&push_with(|claims, _| {
        for (name, at) in [("nbf", ahead), ("iat", ahead), ("exp", ahead + 60)] {
            claims[name] = json!(at);
        }
    }));
}

/// An assertion whose `aud` is a list is refused, even if it contains the issuer.
#[test]
fn fapi2_security_profile_final_par_test_array_as_audience_fails() {
    assert_not_believed(&push_with(|claims, fapi| {
        claims["aud"] = json!([fapi.issuer(), fapi.url("token_endpoint"), fapi.url(PUSHED)]);
    }));
}

/// An assertion whose `aud` is the pushed authorization request endpoint is refused.
#[test]
fn fapi2_security_profile_final_par_test_par_endpoint_url_as_audience_fails() {
    assert_not_believed(&push_with(|claims, fapi| claims["aud"] = json!(fapi.url(PUSHED))));
}

/// An assertion whose `aud` is the token endpoint is refused for clients that follow the profile.
#[test]
fn fapi2_security_profile_final_par_test_token_endpoint_url_as_audience_fails() {
    assert_not_believed(&push_with(|claims, fapi| claims["aud"] = json!(fapi.url("token_endpoint"))));
}

/// Pushes a valid request with an assertion that was changed.
#[track_caller]
fn push_with(change: impl Fn(&mut Value, &Fapi)) -> Response {
    let fapi = Fapi::start();
    let mut claims = fapi.party.assertion(&fapi);
    change(&mut claims, &fapi);
    let request = Request::form(&fapi.path(PUSHED), &fapi.request());
    fapi.site.send(&with_assertion(request, &fapi.party.key().sign(&claims)))
}

#[track_caller]
fn assert_invalid(refused: &Response) {
    assert_eq!(refused.verdict(), "400 invalid_request", "{refused:?}");
}

#[track_caller]
fn assert_not_believed(refused: &Response) {
    assert_eq!(refused.verdict(), "401 invalid_client", "{refused:?}");
}
