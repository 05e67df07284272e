//! Keys of the provider and of its clients, and how they change.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use countersign_tests::jose::SigningKey;
use countersign_tests::openid::{Person, Provider, with_assertion};
use countersign_tests::server::binary;
use countersign_tests::{ClientSite, Request, Server};
use serde_json::{Value, json};

use super::client;
use crate::basic::codes::assert_refreshed;
use crate::config::verify_keys;
use crate::suite::Suite;

/// A client whose keys are at a URL of its own (`jwks_uri`) registers and completes the whole flow.
#[test]
fn oidcc_registration_jwks_uri() {
    let suite = Suite::start();
    let key = SigningKey::es256();
    let site = ClientSite::start(key.jwks());
    let party = suite.register_with_key(key, &json!({"jwks_uri": site.url("/jwks")}));
    suite.log_in(&party, &party.request());
}

/// A client that changes its keys at its `jwks_uri` can refresh with an assertion signed by the new one.
#[test]
fn oidcc_refresh_token_rp_key_rotation() {
    let suite = Suite::start();
    let key = SigningKey::es256();
    let site = ClientSite::start(key.jwks());
    let mut party = suite.register_with_key(key, &json!({"jwks_uri": site.url("/jwks")}));
    let request = party.request().with("scope", "openid offline_access").with("prompt", "consent");
    let answer = suite.log_in(&party, &request);
    let newer = SigningKey::es256();
    site.publish(newer.jwks());
    party.method = countersign_tests::openid::Method::Key(newer);
    let again = suite.judge(&party, suite.refresh(&party, answer.refresh.as_deref().unwrap()));
    assert_refreshed(&answer, &again);
    suite.userinfo(&party, &again.access).expect(200);
}

/// After the operator rotates the keys, the JWKS contains the new ones and the old ones.
#[test]
fn oidcc_server_rotate_keys() {
    let server = Server::sqlite();
    let provider = Provider::discover(&server);
    let before = provider.jwks();
    verify_keys(&before);
    let mut command = Command::new(binary());
    command.current_dir(server.database().folder()).env("COUNTERSIGN_DATABASE_URL", server.database().url());
    let done = command.args(["key", "rotate"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let ids = |jwks: &Value| -> Vec<String> {
        let keys = jwks["keys"].as_array().unwrap().iter();
        keys.map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
    };
    // A running server reloads its keys every few seconds.
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut after = provider.jwks();
    while ids(&after).len() == ids(&before).len() && Instant::now() < deadline {
        sleep(Duration::from_millis(100));
        after = provider.jwks();
    }
    verify_keys(&after);
    assert!(ids(&after).len() > ids(&before).len(), "{after}");
    assert!(ids(&before).iter().all(|old| ids(&after).contains(old)), "{after}");
}

/// An assertion whose `aud` is the issuer instead of the token endpoint is accepted.
#[test]
fn oidcc_ensure_client_assertion_with_iss_aud_succeeds() {
    let suite = Suite::start();
    let party = client(&suite, &json!({}));
    let request = party.request();
    let code = Person::new(&suite).answer(&suite, &request).code();
    let mut assertion = party.assertion(&suite);
    assertion["aud"] = json!(suite.issuer());
    let form = Request::form(&suite.path("token_endpoint"), &Provider::exchange_form(&request, &code));
    suite.judge(&party, suite.site.send(&with_assertion(form, &party.key().sign(&assertion))));
}
