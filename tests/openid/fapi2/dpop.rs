//! Tokens bound to a key (RFC 9449): all kinds of valid and invalid proofs, and codes that are already bound.

use countersign_tests::jose::{SigningKey, now, random_text, unsigned};
use countersign_tests::openid::{Answer, Person, Provider, proof};
use countersign_tests::{Parameters, Request, Response};
use serde_json::{Value, json};

use super::{Fapi, PUSHED, by_reference};

/// The scheme in the Authorization header is case-insensitive.
#[test]
fn fapi2_security_profile_final_access_token_type_header_case_sensitivity() {
    let fapi = Fapi::start();
    let answer = fapi.log_in(&fapi.request());
    let path = fapi.path("userinfo_endpoint");
    for scheme in ["DPoP", "dpop", "DPOP"] {
        let ask = || Request::get(&path).header("Authorization", &format!("{scheme} {}", answer.access));
        fapi.send_proven(fapi.dpop(), "userinfo_endpoint", Some(&answer.access), |_, _| {}, ask).expect(200);
    }
}

/// Proofs may have `nbf` and `exp`.
#[test]
fn fapi2_security_profile_final_check_dpop_proof_nbf_exp() {
    walks_with(|claims| (claims["nbf"], claims["exp"]) = (json!(now()), json!(now() + 300)));
}

/// Proofs from ten seconds ago are accepted.
#[test]
fn fapi2_security_profile_final_ensure_dpopproof_with_iat_10seconds_before_succeeds() {
    walks_with(|claims| claims["iat"] = json!(now() - 10));
}

/// Proofs from ten seconds in the future are accepted, because clocks differ.
#[test]
fn fapi2_security_profile_final_ensure_dpopproof_with_iat_10seconds_after_succeeds() {
    walks_with(|claims| claims["iat"] = json!(now() + 10));
}

/// A `dpop_jkt` that does not match the key of the proof sent with it is refused at the pushed authorization
/// request endpoint.
#[test]
fn fapi2_security_profile_final_ensure_mismatched_dpop_jkt_fails() {
    let fapi = Fapi::start();
    let request = fapi.request().with("dpop_jkt", &SigningKey::es256().thumbprint());
    let refused = push_proven(&fapi, &request);
    assert!(
        matches!(refused.verdict().as_str(), "400 invalid_request" | "400 invalid_dpop_proof"),
        "{refused:?}"
    );
}

/// A code whose request came with a proof cannot be redeemed with another key.
#[test]
fn fapi2_security_profile_final_ensure_token_endpoint_fails_with_mismatched_dpop_proof_jkt() {
    let mut fapi = Fapi::start();
    let request = fapi.request();
    let reference = by_reference(&fapi.party, push_proven(&fapi, &request));
    let code = answer(&fapi, &request, &reference);
    fapi.party.dpop = Some(SigningKey::es256());
    assert_other_key(&fapi.exchange(&fapi.party, &request, &code));
}

/// A code whose request named a key in `dpop_jkt` cannot be redeemed with another key.
#[test]
fn fapi2_security_profile_final_ensure_token_endpoint_fails_with_mismatched_dpop_jkt() {
    let fapi = Fapi::start();
    let request = fapi.request().with("dpop_jkt", &SigningKey::es256().thumbprint());
    let code = fapi.sign_in(&request).code();
    assert_other_key(&fapi.exchange(&fapi.party, &request, &code));
}

/// A code whose request came with a proof can be redeemed with the same key.
#[test]
fn fapi2_security_profile_final_ensure_dpopproof_at_par_endpoint_binding_success() {
    let fapi = Fapi::start();
    let request = fapi.request();
    let reference = by_reference(&fapi.party, push_proven(&fapi, &request));
    let code = answer(&fapi, &request, &reference);
    fapi.redeem(&fapi.party, &request, &code);
}

/// A code whose request came with a proof and named the same key in `dpop_jkt` can be redeemed with that key.
#[test]
fn fapi2_security_profile_final_ensure_dpop_auth_code_binding_success() {
    let fapi = Fapi::start();
    let request = fapi.request().with("dpop_jkt", &fapi.dpop().thumbprint());
    let reference = by_reference(&fapi.party, push_proven(&fapi, &request));
    let code = answer(&fapi, &request, &reference);
    fapi.redeem(&fapi.party, &request, &code);
}

/// A client of the profile gets no token without a DPoP proof.
#[test]
fn fapi2_security_profile_final_ensure_holder_of_key_required() {
    let fapi = Fapi::start();
    let (request, code) = fapi.code();
    let form = Request::form(&fapi.path("token_endpoint"), &Provider::exchange_form(&request, &code));
    let refused = fapi.site.send(&fapi.party.prove(&fapi, form));
    assert!(
        matches!(refused.verdict().as_str(), "400 invalid_dpop_proof" | "400 invalid_request"),
        "{refused:?}"
    );
}

/// Userinfo refuses a token whose proof is malformed, old, already used, by another key, for another request
/// or for another token. It accepts the same token again with a valid proof.
#[test]
fn fapi2_security_profile_final_dpop_negative_tests() {
    let fapi = Fapi::start();
    let answer = fapi.log_in(&fapi.request());
    let asking = Asking { fapi: &fapi, answer: &answer };
    asking
        .refuses("two proofs", |nonce| vec![asking.proof(nonce, |_, _| {}), asking.proof(nonce, |_, _| {})]);
    asking.refuses("no JWT", |_| vec!["not.a.proof".to_owned()]);
    for name in ["typ", "alg", "jwk"] {
        asking.refuses(name, |nonce| vec![asking.proof(nonce, |header, _| remove(header, name))]);
    }
    for name in ["jti", "htm", "htu", "iat", "ath"] {
        asking.refuses(name, |nonce| vec![asking.proof(nonce, |_, claims| remove(claims, name))]);
    }
    asking.refuses("typ", |nonce| vec![asking.proof(nonce, |header, _| header["typ"] = json!("JWT"))]);
    asking.refuses("none", |nonce| {
        let signed = asking.proof(nonce, |_, _| {});
        let header = json!({"typ": "dpop+jwt", "jwk": fapi.dpop().jwk()});
        vec![unsigned(&header, &countersign_tests::jose::claims_of(&signed))]
    });
    asking.refuses("signature", |nonce| {
        let signed = asking.proof(nonce, |_, _| {});
        let (text, _) = signed.rsplit_once('.').unwrap();
        let other = asking.proof(nonce, |_, _| {});
        vec![format!("{text}.{}", other.rsplit_once('.').unwrap().1)]
    });
    asking.refuses("private key", |nonce| {
        vec![asking.proof(nonce, |header, _| header["jwk"] = fapi.dpop().private_jwk())]
    });
    for (name, value) in [
        ("htm", json!("PUT")),
        ("htu", json!("https://other.example/oauth/userinfo")),
        ("iat", json!(now() + 3600)),
        ("iat", json!(now() - 3600)),
        ("ath", json!(random_text())),
    ] {
        asking.refuses(name, |nonce| vec![asking.proof(nonce, |_, claims| claims[name] = value.clone())]);
    }
    let stranger = SigningKey::es256();
    let url = fapi.url("userinfo_endpoint");
    asking.refuses("another key", |nonce| {
        vec![proof(&stranger, "GET", &url, nonce, Some(&answer.access), |_, _| {})]
    });
    asking.refuses("no proof", |_| Vec::new());
    assert_eq!(fapi.site.userinfo(&answer.access).status, 401, "RFC 9449 section 7.2: no bearer token");

    for htu in [format!("{url}?query=1#fragment"), url.replace("http://localhost", "HTTP://LOCALHOST")] {
        asking.takes(|nonce| vec![asking.proof(nonce, |_, claims| claims["htu"] = json!(htu))]);
    }
    asking.takes(|nonce| {
        vec![asking.proof(nonce, |header, claims| {
            (header["extra"], claims["extra"]) = (json!("ignored"), json!({"also": "ignored"}));
        })]
    });
    let id = random_text();
    let with_id = |nonce: Option<&str>| vec![asking.proof(nonce, |_, claims| claims["jti"] = json!(id))];
    asking.takes(with_id);
    asking.refuses("jti again", with_id);
    asking.takes(|nonce| vec![asking.proof(nonce, |_, _| {})]);
}

/// A client that calls userinfo with a token and proofs that it makes itself.
struct Asking<'a> {
    fapi: &'a Fapi,
    answer: &'a Answer,
}

impl Asking<'_> {
    fn proof(&self, nonce: Option<&str>, change: impl Fn(&mut Value, &mut Value)) -> String {
        let url = self.fapi.url("userinfo_endpoint");
        proof(self.fapi.dpop(), "GET", &url, nonce, Some(&self.answer.access), change)
    }

    #[track_caller]
    fn ask(&self, proofs: impl Fn(Option<&str>) -> Vec<String>) -> Response {
        let path = self.fapi.path("userinfo_endpoint");
        let send = |nonce: Option<&str>| {
            let bare = Request::get(&path).header("Authorization", &format!("DPoP {}", self.answer.access));
            let request = proofs(nonce).iter().fold(bare, |request, proof| request.header("DPoP", proof));
            self.fapi.site.send(&request)
        };
        let first = send(None);
        match first.header("DPoP-Nonce").filter(|_| first.error() == "use_dpop_nonce") {
            Some(nonce) => send(Some(nonce)),
            None => first,
        }
    }

    #[track_caller]
    fn takes(&self, proofs: impl Fn(Option<&str>) -> Vec<String>) {
        assert_eq!(self.ask(proofs).expect(200).field("sub"), self.answer.claims["sub"]);
    }

    #[track_caller]
    fn refuses(&self, what: &str, proofs: impl Fn(Option<&str>) -> Vec<String>) {
        let refused = self.ask(proofs);
        assert!(matches!(refused.status, 400 | 401), "{what}: {refused:?}");
        assert_ne!(refused.error(), "use_dpop_nonce", "the error is about {what}: {refused:?}");
    }
}

fn remove(part: &mut Value, name: &str) {
    part.as_object_mut().unwrap().remove(name);
}

/// The whole flow with changed proofs at the token endpoint and at userinfo.
#[track_caller]
fn walks_with(change: impl Fn(&mut Value)) {
    let fapi = Fapi::start();
    let (request, code) = fapi.code();
    let form = Provider::exchange_form(&request, &code);
    let path = fapi.path("token_endpoint");
    let change = |_: &mut Value, claims: &mut Value| change(claims);
    let prove = || fapi.party.prove(&fapi, Request::form(&path, &form));
    let answer =
        fapi.judge(&fapi.party, fapi.send_proven(fapi.dpop(), "token_endpoint", None, change, prove));
    let userinfo = fapi.path("userinfo_endpoint");
    let ask = || Request::get(&userinfo).header("Authorization", &format!("DPoP {}", answer.access));
    fapi.send_proven(fapi.dpop(), "userinfo_endpoint", Some(&answer.access), change, ask).expect(200);
}

/// Pushes a request with a proof of the client's key (RFC 9449 section 10.1).
#[track_caller]
fn push_proven(fapi: &Fapi, request: &Parameters) -> Response {
    let path = fapi.path(PUSHED);
    let prove = || fapi.party.prove(fapi, Request::form(&path, request));
    fapi.send_proven(fapi.dpop(), PUSHED, None, |_, _| {}, prove)
}

/// A new user answers a pushed request.
#[track_caller]
fn answer(fapi: &Fapi, request: &Parameters, reference: &Parameters) -> String {
    let mut person = Person::new(fapi);
    let begun = person.visit(fapi, reference).expect(302);
    person.finish(fapi, request, begun).code()
}

#[track_caller]
fn assert_other_key(refused: &Response) {
    let allowed = ["400 invalid_grant", "400 invalid_request", "400 invalid_dpop_proof"];
    assert!(allowed.contains(&refused.verdict().as_str()), "{refused:?}");
}
