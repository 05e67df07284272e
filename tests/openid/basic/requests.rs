//! Optional parameters of an authorization request: how the page looks, who should sign in, and how long ago.

use std::thread::sleep;
use std::time::Duration;

use countersign_tests::Request;
use countersign_tests::openid::{Answer, How, Party, Person};
use serde_json::json;

use crate::suite::Suite;

/// `display=page` causes no problem: the page is shown, and the flow succeeds.
#[test]
fn oidcc_display_page() {
    succeeds_with("display", "page");
}

/// `display=popup` causes no problem.
#[test]
fn oidcc_display_popup() {
    succeeds_with("display", "popup");
}

/// With `prompt=login`, a user who is already signed in signs again, and `auth_time` is the later time.
#[test]
fn oidcc_prompt_login() {
    signs_again("prompt", "login");
}

/// With `prompt=none` and no one signed in, the client gets an error that says that a page is needed.
#[test]
fn oidcc_prompt_none_not_logged_in() {
    let suite = Suite::start();
    let party = suite.client();
    let sent_back = Person::new(&suite).answer(&suite, &party.request().with("prompt", "none"));
    assert_eq!((sent_back.how, sent_back.error()), (How::Silently, "login_required"));
}

/// With `prompt=none`, a user who is signed in is redirected back without a page, with the same `sub` and
/// `auth_time`.
#[test]
fn oidcc_prompt_none_logged_in() {
    let suite = Suite::start();
    let party = suite.let_in(&json!({}));
    let mut person = Person::new(&suite);
    let (_, first) = sign_in(&suite, &party, &mut person, &[]);
    let (how, second) = sign_in(&suite, &party, &mut person, &[("prompt", "none")]);
    assert_eq!(how, How::Silently);
    assert_same_sign_in(&first, &second);
}

/// With `max_age=1`, one second after the sign-in, the user signs again, and `auth_time` is the later time.
#[test]
fn oidcc_max_age_1() {
    signs_again("max_age", "1");
}

/// With `max_age=10000`, a user who signed in a moment ago does not sign again, and `auth_time` stays the
/// same.
#[test]
fn oidcc_max_age_10000() {
    let suite = Suite::start();
    let party = suite.client();
    let mut person = Person::new(&suite);
    let (_, first) = sign_in(&suite, &party, &mut person, &[("max_age", "15000")]);
    assert!(first.claims["auth_time"].is_i64(), "{}", first.claims);
    let (how, second) = sign_in(&suite, &party, &mut person, &[("max_age", "10000")]);
    assert_eq!(how, How::ByContinue);
    assert_same_sign_in(&first, &second);
}

/// An unknown parameter is ignored.
#[test]
fn oidcc_ensure_request_with_unknown_parameter_succeeds() {
    succeeds_with("extra", "foobar");
}

/// With `id_token_hint` and `prompt=none`, the user of the hint is redirected back without a page.
#[test]
fn oidcc_id_token_hint() {
    let suite = Suite::start();
    let party = suite.let_in(&json!({}));
    let mut person = Person::new(&suite);
    let (_, first) = sign_in(&suite, &party, &mut person, &[]);
    let hint = [("prompt", "none"), ("id_token_hint", first.id_token.as_str())];
    let (how, second) = sign_in(&suite, &party, &mut person, &hint);
    assert_eq!(how, How::Silently);
    assert_same_sign_in(&first, &second);
}

/// A `login_hint` of any kind causes no problem.
#[test]
fn oidcc_login_hint() {
    succeeds_with("login_hint", "buffy@client.example");
}

/// A language that no page is translated into (`ui_locales=se`) causes no problem.
#[test]
fn oidcc_ui_locales() {
    succeeds_with("ui_locales", "se");
}

/// A language for claims (`claims_locales=se`) causes no problem.
#[test]
fn oidcc_claims_locales() {
    succeeds_with("claims_locales", "se");
}

/// With the `acr_values` that the metadata lists, the ID token contains one of them.
#[test]
fn oidcc_ensure_request_with_acr_values_succeeds() {
    let suite = Suite::start();
    let offered: Vec<&str> = suite.list("acr_values_supported").into_iter().collect();
    let party = suite.client();
    let answer = suite.log_in(&party, &party.request().with("acr_values", &offered.join(" ")));
    assert!(offered.contains(&answer.claims["acr"].as_str().unwrap()), "{}", answer.claims);
}

/// The authorization endpoint also accepts the request as a form.
#[test]
fn oidcc_ensure_post_request_succeeds() {
    let suite = Suite::start();
    let party = suite.client();
    let (mut person, request) = (Person::new(&suite), party.request());
    let begun =
        person.browser.send(Request::form(&suite.path("authorization_endpoint"), &request)).expect(303);
    let code = person.finish(&suite, &request, begun).code();
    suite.redeem(&party, &request, &code);
}

/// The claim `name`, requested as essential, is returned by userinfo.
#[test]
fn oidcc_claims_essential() {
    let suite = Suite::start();
    let party = suite.client();
    let claims = json!({"userinfo": {"name": {"essential": true}}}).to_string();
    let answer = suite.log_in(&party, &party.request().with("claims", &claims));
    let told = super::told(&suite, &party, &answer);
    assert!(told["name"].is_string(), "{told}");
}

/// A request with PKCE succeeds, even though the client has a secret.
#[test]
fn oidcc_ensure_request_with_valid_pkce_succeeds() {
    let suite = Suite::start();
    let party = suite.client();
    suite.log_in(&party, &party.request_with_pkce());
}

/// Runs the whole flow with one more parameter.
#[track_caller]
fn succeeds_with(name: &str, value: &str) {
    let suite = Suite::start();
    let party = suite.client();
    suite.log_in(&party, &party.request().with(name, value));
}

/// Signs in with more parameters, and validates what the client gets.
#[track_caller]
fn sign_in(suite: &Suite, party: &Party, person: &mut Person, more: &[(&str, &str)]) -> (How, Answer) {
    let request = more.iter().fold(party.request(), |request, (name, value)| request.with(name, value));
    let sent_back = person.answer(suite, &request);
    (sent_back.how, suite.redeem(party, &request, &sent_back.code()))
}

/// The same user signs in twice, the second time with a parameter that makes the first sign-in too old.
#[track_caller]
fn signs_again(name: &str, value: &str) {
    let suite = Suite::start();
    let party = suite.client();
    let mut person = Person::new(&suite);
    let (_, first) = sign_in(&suite, &party, &mut person, &[]);
    sleep(Duration::from_secs(1));
    let (how, second) = sign_in(&suite, &party, &mut person, &[(name, value)]);
    assert_eq!(how, How::BySignature);
    assert_eq!(first.claims["sub"], second.claims["sub"]);
    let at = |answer: &Answer| answer.claims["auth_time"].as_i64().unwrap();
    assert!(at(&first) < at(&second), "{} and {}", first.claims, second.claims);
}

#[track_caller]
fn assert_same_sign_in(first: &Answer, second: &Answer) {
    for name in ["iss", "sub", "auth_time"] {
        assert_eq!(first.claims[name], second.claims[name], "{name}");
    }
}
