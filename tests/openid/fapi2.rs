//! The plan "FAPI 2.0 Security Profile Final" (`fapi2-security-profile-final-test-plan`) with its variants
//! `private_key_jwt`, `dpop`, `openid_connect`, `plain_fapi`, `unsigned` and `plain_response`: pushed
//! requests, signed client assertions, tokens bound to a key (C-04).

mod assertions;
mod codes;
mod dpop;
mod pushed;
mod pushing;

use std::ops::Deref;

use countersign_tests::jose::{SigningKey, random_text};
use countersign_tests::openid::{Answer, Callback, How, Party, Person, Provider};
use countersign_tests::{Parameters, Request, Response};
use serde_json::{Value, json};

use crate::suite::Suite;

const PUSHED: &str = "pushed_authorization_request_endpoint";

/// A provider, and a client that follows the profile.
struct Fapi {
    suite: Suite,
    party: Party,
}

impl Fapi {
    #[track_caller]
    fn start() -> Self {
        let suite = Suite::start();
        let party = client(&suite, SigningKey::es256());
        Self { suite, party }
    }

    fn request(&self) -> Parameters {
        self.party.request_with_pkce()
    }

    /// Pushes a request, and returns the response whatever it is.
    #[track_caller]
    fn push(&self, request: &Parameters) -> Response {
        self.suite.site.send(&self.party.prove(&self.suite, Request::form(&self.suite.path(PUSHED), request)))
    }

    /// Pushes a valid request, and returns what the browser sends in its place.
    #[track_caller]
    fn pushed(&self, request: &Parameters) -> Parameters {
        by_reference(&self.party, self.push(request))
    }

    /// Pushes a request and lets a new user answer it.
    #[track_caller]
    fn sign_in(&self, request: &Parameters) -> Callback {
        let mut person = Person::new(&self.suite);
        let begun = person.visit(&self.suite, &self.pushed(request)).expect(302);
        person.finish(&self.suite, request, begun)
    }

    /// The whole flow: validates everything, and calls userinfo.
    #[track_caller]
    fn log_in(&self, request: &Parameters) -> Answer {
        let code = self.sign_in(request).code();
        let answer = self.redeem(&self.party, request, &code);
        let told = self.userinfo(&self.party, &answer.access).expect(200);
        assert_eq!(told.field("sub"), answer.claims["sub"]);
        answer
    }

    /// A code, with the request that it belongs to.
    #[track_caller]
    fn code(&self) -> (Parameters, String) {
        let request = self.request();
        let code = self.sign_in(&request).code();
        (request, code)
    }

    fn dpop(&self) -> &SigningKey {
        self.party.dpop.as_ref().unwrap()
    }

    /// The token request for a code, with a client assertion that was altered, or without one.
    #[track_caller]
    fn exchange_as(&self, form: &Parameters, prove: impl Fn(Request) -> Request) -> Response {
        let path = self.path("token_endpoint");
        self.send_proven(self.dpop(), "token_endpoint", None, |_, _| {}, || prove(Request::form(&path, form)))
    }
}

impl Deref for Fapi {
    type Target = Provider;

    fn deref(&self) -> &Provider {
        &self.suite
    }
}

/// Registers a client that follows the profile.
#[track_caller]
fn client(suite: &Suite, key: SigningKey) -> Party {
    let algorithm = key.jwk()["alg"].clone();
    let metadata = json!({
        "require_pushed_authorization_requests": true,
        "dpop_bound_access_tokens": true,
        "token_endpoint_auth_signing_alg": algorithm,
        "id_token_signed_response_alg": "ES256",
    });
    let mut party = suite.register_with_key(key, &metadata);
    party.dpop = Some(SigningKey::es256());
    party
}

/// What the browser sends in place of a pushed request.
#[track_caller]
fn by_reference(party: &Party, pushed: Response) -> Parameters {
    let pushed = pushed.expect(201);
    assert!(
        pushed.json()["expires_in"].as_i64().is_some_and(|seconds| (1..600).contains(&seconds)),
        "{pushed:?}"
    );
    Parameters::of(&[("client_id", &party.id), ("request_uri", &pushed.field("request_uri"))])
}

/// The metadata lists everything that the profile needs: pushed requests, keys for clients and for tokens,
/// PKCE.
#[test]
fn fapi2_security_profile_final_discovery_end_point_verification() {
    let suite = Suite::start();
    crate::config::verify(&suite);
    for name in [
        "dpop_signing_alg_values_supported",
        "id_token_signing_alg_values_supported",
        "token_endpoint_auth_signing_alg_values_supported",
    ] {
        let offered = suite.list(name);
        assert!(
            ["PS256", "ES256", "EdDSA"].iter().any(|algorithm| offered.contains(algorithm)),
            "{name}: {offered:?}"
        );
    }
    assert!(suite.list("token_endpoint_auth_methods_supported").contains("private_key_jwt"));
    assert_eq!(suite.metadata["authorization_response_iss_parameter_supported"], json!(true));
    suite.path(PUSHED);
}

/// Two clients complete the whole flow, the second with `dpop_jkt`. Userinfo accepts no token in the query,
/// and any valid `Accept`.
#[test]
fn fapi2_security_profile_final_happy_flow() {
    let fapi = Fapi::start();
    let answer = fapi.log_in(&fapi.request());
    let userinfo = fapi.path("userinfo_endpoint");
    let in_address = Request::get(&format!("{userinfo}?access_token={}", answer.access));
    assert!(fapi.site.send(&in_address).status >= 400);
    for accept in ["application/json; charset=utf-8", "application/json", "*/*"] {
        let ask = || {
            Request::get(&userinfo)
                .header("Authorization", &format!("DPoP {}", answer.access))
                .header("Accept", accept)
        };
        fapi.send_proven(fapi.dpop(), "userinfo_endpoint", Some(&answer.access), |_, _| {}, ask).expect(200);
    }
    let second = Fapi { party: client(&fapi.suite, SigningKey::rsa("PS256")), suite: fapi.suite };
    second.log_in(
        &second
            .request()
            .with("dpop_jkt", &second.dpop().thumbprint())
            .with("nonce", &random_text().repeat(2)),
    );
}

/// A user who denies is redirected back with `access_denied`.
#[test]
fn fapi2_security_profile_final_user_rejects_authentication() {
    let fapi = Fapi::start();
    let request = fapi.request();
    let mut person = Person::new(&fapi);
    let begun = person.visit(&fapi, &fapi.pushed(&request)).expect(302);
    assert!(person.page(&begun).is_some());
    let named = ["client_id", "redirect_uri", "state"].map(|name| (name, request.get(name)));
    let denied = person.browser.press(Request::form("/oauth/deny", &Parameters::of(&named))).expect(303);
    assert_eq!(denied.answer("error").as_deref(), Some("access_denied"));
    assert_eq!(denied.answer("state").as_deref(), Some(request.get("state")));
    assert_eq!(denied.answer("iss").as_deref(), Some(fapi.issuer()));
}

/// A request without `state` succeeds, and the response has none.
#[test]
fn fapi2_security_profile_final_ensure_authorization_request_without_state_success() {
    let fapi = Fapi::start();
    let answer = fapi.log_in(&fapi.request().without("state"));
    assert_eq!(answer.claims.get("s_hash"), None);
}

/// A request without `nonce` succeeds, and the ID token has none.
#[test]
fn fapi2_security_profile_final_ensure_authorization_request_without_nonce_success() {
    let fapi = Fapi::start();
    fapi.log_in(&fapi.request().without("nonce"));
}

/// A nonce of 64 characters comes back unchanged.
#[test]
fn fapi2_security_profile_final_ensure_authorization_request_with_64_char_nonce_success() {
    comes_back_whole("nonce", 64);
}

/// A nonce of 384 characters comes back unchanged.
#[test]
fn fapi2_security_profile_final_ensure_authorization_request_with_long_nonce() {
    comes_back_whole("nonce", 384);
}

/// A state of 384 characters comes back unchanged.
#[test]
fn fapi2_security_profile_final_ensure_authorization_request_with_long_state() {
    comes_back_whole("state", 384);
}

/// Scopes in a different order succeed.
#[test]
fn fapi2_security_profile_final_ensure_other_scope_order_succeeds() {
    let fapi = Fapi::start();
    fapi.log_in(&fapi.request().with("scope", "email profile openid"));
}

/// Every claim in the metadata, requested in each possible form, is returned in the ID token or by userinfo.
/// Unknown claims are ignored.
#[test]
fn fapi2_security_profile_final_test_claims_parameter_identity_claims() {
    let fapi = Fapi::start();
    assert_eq!(fapi.metadata["claims_parameter_supported"], json!(true));
    let forms = [Value::Null, json!({"essential": true}), json!({"essential": false})];
    let mut asked: serde_json::Map<String, Value> = fapi
        .list("claims_supported")
        .into_iter()
        .map(ToOwned::to_owned)
        .zip(forms.into_iter().cycle())
        .collect();
    let offered: Vec<String> = asked.keys().cloned().collect();
    asked.insert(random_text(), json!({"essential": true}));
    let claims = json!({"id_token": asked, "userinfo": asked}).to_string();
    let request = fapi.request().with("claims", &claims);
    let mut person = Person::new(&fapi);
    person.email = Some("anna@example.com".to_owned());
    let begun = person.visit(&fapi, &fapi.pushed(&request)).expect(302);
    let code = person.finish(&fapi, &request, begun).code();
    let answer = fapi.redeem(&fapi.party, &request, &code);
    let told = fapi.userinfo(&fapi.party, &answer.access).expect(200).json();
    // What only an operator gives to a client does not come: groups, and further wallets unless they are asked for by name.
    let is_given = |name: &String| !["groups", "wallets", "wallet_proof"].contains(&name.as_str());
    for name in offered.into_iter().filter(is_given) {
        assert!(
            answer.claims.get(&name).is_some() || told.get(&name).is_some(),
            "{name}: {} {told}",
            answer.claims
        );
    }
}

/// Pushes a request with a long value, which must come back unchanged.
#[track_caller]
fn comes_back_whole(name: &str, length: usize) {
    let fapi = Fapi::start();
    let long: String = random_text().chars().cycle().take(length).collect();
    let request = fapi.request().with(name, &long);
    let sent_back = fapi.sign_in(&request);
    assert_eq!(sent_back.how, How::BySignature);
    // The state was compared on the way back. The nonce is compared when the ID token is validated.
    fapi.redeem(&fapi.party, &request, &sent_back.code());
}
