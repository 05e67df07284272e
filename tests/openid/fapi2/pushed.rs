//! Rules for a pushed request: it belongs to its client, works once, lasts a minute, and parameters sent
//! beside it are ignored.

use countersign_tests::openid::{How, Person};
use countersign_tests::{Parameters, jose::SigningKey};

use super::codes::passes;
use super::{Fapi, client};

/// A `nonce` in the query that differs from the pushed one is ignored.
#[test]
fn fapi2_security_profile_final_ensure_different_nonce_inside_and_outside_request_object() {
    counts_for_nothing("nonce");
}

/// A `state` in the query that differs from the pushed one is ignored.
#[test]
fn fapi2_security_profile_final_ensure_different_state_inside_and_outside_request_object() {
    counts_for_nothing("state");
}

/// A `state` that is only in the query is ignored: the response has none.
#[test]
fn fapi2_security_profile_final_state_only_outside_request_object_not_used() {
    let fapi = Fapi::start();
    let request = fapi.request().without("state");
    signs_in_beside(&fapi, &request, "state");
}

/// The browser only needs to send `client_id` and `request_uri`.
#[test]
fn fapi2_security_profile_final_par_without_duplicate_parameters() {
    let fapi = Fapi::start();
    let request = fapi.request();
    let reference = fapi.pushed(&request);
    assert_eq!(reference.0.len(), 2);
    let mut person = Person::new(&fapi);
    let begun = person.visit(&fapi, &reference).expect(302);
    assert_eq!(person.finish(&fapi, &request, begun).how, How::BySignature);
}

/// A request that was answered is used up: its `request_uri` no longer works.
#[test]
fn fapi2_security_profile_final_par_attempt_reuse_request_uri() {
    let fapi = Fapi::start();
    let request = fapi.request();
    let reference = fapi.pushed(&request);
    let mut person = Person::new(&fapi);
    let begun = person.visit(&fapi, &reference).expect(302);
    let code = person.finish(&fapi, &request, begun).code();
    fapi.redeem(&fapi.party, &request, &code);
    leads_nowhere(&fapi, &mut person, &reference);
}

/// A request expires after a minute.
#[test]
fn fapi2_security_profile_final_par_attempt_to_use_expired_request_uri() {
    let fapi = Fapi::start();
    let reference = fapi.pushed(&fapi.request());
    passes(&fapi, "pushed_requests", "expires_at", 62);
    leads_nowhere(&fapi, &mut Person::new(&fapi), &reference);
}

/// A request belongs to its client: its `request_uri` does not work with another client's id.
#[test]
fn fapi2_security_profile_final_par_attempt_to_use_request_uri_for_different_client() {
    let fapi = Fapi::start();
    let other = client(&fapi.suite, SigningKey::es256());
    let reference = fapi.pushed(&fapi.request()).with("client_id", &other.id);
    leads_nowhere(&fapi, &mut Person::new(&fapi), &reference);
}

/// Signs in with a different value of a parameter beside the `request_uri`.
#[track_caller]
fn counts_for_nothing(name: &str) {
    let fapi = Fapi::start();
    let request = fapi.request();
    signs_in_beside(&fapi, &request, name);
}

/// The response is compared with the pushed request, so that anything else fails.
#[track_caller]
fn signs_in_beside(fapi: &Fapi, request: &Parameters, name: &str) {
    let mut person = Person::new(fapi);
    let begun = person.visit(fapi, &fapi.pushed(request).with(name, "from outside")).expect(302);
    let code = person.finish(fapi, request, begun).code();
    fapi.redeem(&fapi.party, request, &code);
}

#[track_caller]
fn leads_nowhere(fapi: &Fapi, person: &mut Person, reference: &Parameters) {
    let refused = person.visit(fapi, reference);
    assert_eq!(refused.verdict(), "400 invalid_request_uri", "{refused:?}");
    assert_eq!(refused.header("Location"), None);
}
