//! Codes, their PKCE verifiers and refresh tokens: who can use them, and how long.

use std::thread::sleep;
use std::time::Duration;

use countersign_tests::jose::{SigningKey, random_text};
use countersign_tests::openid::Provider;
use countersign_tests::{Database, Parameters, Request};

use super::{Fapi, client};
use crate::suite::Suite;

/// Only the client that a code was issued to can use it.
#[test]
fn fapi2_security_profile_final_ensure_authorization_code_is_bound_to_client() {
    let fapi = Fapi::start();
    let (request, code) = fapi.code();
    let second = client(&fapi.suite, SigningKey::es256());
    assert_eq!(fapi.exchange(&second, &request, &code).verdict(), "400 invalid_grant");
}

/// A code that is used again one second later is refused, and the access token that it returned is revoked.
#[test]
fn fapi2_security_profile_final_attempt_reuse_authorization_code_after_one_second() {
    let fapi = Fapi::start();
    let (request, code) = fapi.code();
    let answer = fapi.redeem(&fapi.party, &request, &code);
    sleep(Duration::from_secs(1));
    assert_eq!(fapi.exchange(&fapi.party, &request, &code).verdict(), "400 invalid_grant");
    assert_eq!(fapi.userinfo(&fapi.party, &answer.access).verdict(), "401 invalid_token");
}

/// A code that is used after its lifetime of one minute is refused.
#[test]
fn fapi2_security_profile_final_ensure_token_endpoint_fails_with_expired_auth_code() {
    let fapi = Fapi::start();
    let (request, code) = fapi.code();
    passes(&fapi, "grants", "code_expires_at", 62);
    assert_eq!(fapi.exchange(&fapi.party, &request, &code).verdict(), "400 invalid_grant");
}

/// A code does not work without its PKCE verifier.
#[test]
fn fapi2_security_profile_final_ensure_pkce_code_verifier_required() {
    let fapi = Fapi::start();
    let (request, code) = fapi.code();
    let form = Provider::exchange_form(&request, &code).without("code_verifier");
    assert_eq!(fapi.token(&fapi.party, &form).verdict(), "400 invalid_grant");
}

/// A code does not work with the wrong PKCE verifier.
#[test]
fn fapi2_security_profile_final_incorrect_pkce_code_verifier_rejected() {
    let fapi = Fapi::start();
    let (request, code) = fapi.code();
    let form = Provider::exchange_form(&request, &code).with("code_verifier", &random_text().repeat(2));
    assert_eq!(fapi.token(&fapi.party, &form).verdict(), "400 invalid_grant");
}

/// Refresh tokens work. One whose successor was lost works again (a setting). None works for another client,
/// without a client assertion, or without a DPoP proof.
#[test]
fn fapi2_security_profile_final_refresh_token() {
    let suite = Suite::of(Database::sqlite().server().with_env("COUNTERSIGN_REFRESH_GRACE", "60").start());
    let (first, second) = (client(&suite, SigningKey::es256()), client(&suite, SigningKey::es256()));
    let mut fapi = Fapi { suite, party: first };
    let mut other = second;
    for _ in 0..2 {
        let request = fapi.request().with("scope", "openid offline_access").with("prompt", "consent");
        let answer = fapi.log_in(&request);
        let token = answer.refresh.unwrap();
        let again = fapi.judge(&fapi.party, fapi.refresh(&fapi.party, &token));
        fapi.userinfo(&fapi.party, &again.access).expect(200);
        let lost = fapi.judge(&fapi.party, fapi.refresh(&fapi.party, &token));
        let form = refresh_form(lost.refresh.as_deref().unwrap());
        assert_eq!(fapi.token(&other, &form).verdict(), "400 invalid_grant");
        let named = form.clone().with("client_id", &fapi.party.id);
        assert_eq!(fapi.exchange_as(&named, |request| request).verdict(), "401 invalid_client");
        let request = Request::form(&fapi.path("token_endpoint"), &form);
        let keyless = fapi.site.send(&fapi.party.prove(&fapi, request));
        assert!(
            matches!(keyless.verdict().as_str(), "400 invalid_dpop_proof" | "400 invalid_request"),
            "{keyless:?}"
        );
        fapi.judge(&fapi.party, fapi.token(&fapi.party, &form));
        std::mem::swap(&mut fapi.party, &mut other);
    }
}

fn refresh_form(token: &str) -> Parameters {
    Parameters::of(&[("grant_type", "refresh_token"), ("refresh_token", token)])
}

/// Moves a time in the client's rows into the past.
#[track_caller]
pub(super) fn passes(fapi: &Fapi, table: &str, column: &str, seconds: i64) {
    let (id, database) = (fapi.party.id.replace('-', ""), fapi.suite.server.database());
    let of_client = format!("WHERE client_id = x'{id}'");
    assert_eq!(database.number(&format!("SELECT count(*) FROM {table} {of_client}")), 1);
    let microseconds = seconds * 1_000_000;
    database.change(&format!("UPDATE {table} SET {column} = {column} - {microseconds} {of_client}"));
}
