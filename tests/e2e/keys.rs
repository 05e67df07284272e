//! Signing keys that change while servers run: all replicas follow, and the published keys verify the tokens
//! that clients get.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_tests::jose::{Expected, judge_id_token};
use countersign_tests::openid::Provider;
use countersign_tests::server::{OPERATOR_SECRET, binary};
use countersign_tests::{Database, Server, Site, on_both};
use serde_json::{Value, json};

/// How long a replica may take to notice: it checks every five seconds, give or take a quarter.
const NOTICED: Duration = Duration::from_secs(20);

/// Runs an operator's command.
#[track_caller]
fn operator(database: &Database, arguments: &[&str]) -> Value {
    let mut command = Command::new(binary());
    command.current_dir(database.folder()).env("COUNTERSIGN_DATABASE_URL", database.url());
    if database.is_postgres() {
        command.env("COUNTERSIGN_SECRET", OPERATOR_SECRET);
    }
    let done = command.arg("key").args(arguments).args(["--output", "json"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// The JWK Set, which contains no private members.
#[track_caller]
fn key_set(site: &Site) -> Vec<String> {
    let set = site.get("/oauth/jwks").expect(200).json();
    let keys = set["keys"].as_array().unwrap();
    let mut kids = Vec::new();
    for key in keys {
        for private in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
            assert!(key.get(private).is_none(), "A-097: {private}");
        }
        assert_eq!(key["use"], "sig");
        kids.push(key["kid"].as_str().unwrap().to_owned());
    }
    kids
}

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + NOTICED;
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        sleep(Duration::from_millis(100));
    }
}

/// The id of the key that signs new access tokens.
fn signs_with(server: &Server) -> String {
    key_of(&server.tokens(&server.register()).access)
}

/// The id of the key that signed a token.
fn key_of(token: &str) -> String {
    let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    header["kid"].as_str().unwrap().to_owned()
}

/// The ids of the keys in a state, as the operator sees them.
fn in_state(keys: &Value, state: &str) -> Vec<String> {
    let keys = keys.as_array().unwrap().iter().filter(|key| key["state"] == state);
    keys.map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

on_both! {
    /// D-15, D-16, A-097: one replica is told. Through the database the others learn of it, and all sign with
    /// the new keys within seconds.
    fn an_emergency_rotation_reaches_every_replica(database) {
        let first = database.start();
        let second = first.replica();
        let old = key_set(&first);
        assert_eq!((old.len(), &old), (3, &key_set(&second)));
        let client = first.register();
        let before = first.tokens(&client);

        let new = in_state(&operator(database, &["rotate", "--now"]), "active");
        for server in [&first, &second] {
            wait_until("the new keys are published", || key_set(server) == new);
            assert!(new.contains(&signs_with(server)), "they sign");
        }
        assert!(new.iter().all(|kid| !old.contains(kid)), "the old ones are withdrawn");
        // The hash of a token tells it from a forgery, so nobody is signed out here.
        assert_eq!(second.userinfo(&before.access).status, 200);
        assert_eq!(second.refresh(&client, &before.refresh).status, 200);
    }

    /// D-16: when a key reaches its maximum age, one of the replicas makes its successor, and all of them
    /// publish it.
    fn a_key_that_grows_old_is_followed_by_the_next_one(database) {
        let mut first = database.start();
        let old = signs_with(&first);
        first.kill9();
        let day = if database.is_postgres() { "interval '1 day'" } else { "86400000000" };
        database.change(&format!("UPDATE signing_keys SET active_from = active_from - 90 * {day}"));
        first.restart();
        let second = first.replica();
        for server in [&first, &second] {
            wait_until("the next keys are published", || key_set(server).len() == 6);
        }
        assert_eq!(key_set(&first), key_set(&second));
        assert_eq!(signs_with(&second), old, "the next keys are published for a day before they sign");
        database.change(&format!("UPDATE signing_keys SET active_from = active_from - 2 * {day}"));
        for server in [&first, &second] {
            wait_until("the next keys sign", || !key_set(server)[..3].contains(&old));
            assert_ne!(signs_with(server), old);
            assert!(key_set(server).contains(&old), "tokens signed with the old key can still be verified");
        }
    }

    /// D-17: a client that fetched the key set an hour ago, and only then, verifies every token through a
    /// rotation under load.
    fn d_17_no_verification_fails_through_a_rotation_under_load_with_a_kept_key_set(database) {
        let server = database.start();
        let provider = Provider::discover(&server);
        let scope = json!({"scope": "openid offline_access", "id_token_signed_response_alg": "RS256"});
        let party = provider.register(&scope);
        let before = operator(database, &["list"]);
        operator(database, &["rotate"]);
        wait_until("the next keys are published", || key_set(&server).len() == 6);
        let kept = provider.jwks();
        let active = in_state(&before, "active");
        let (done, by_new_keys) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let request = party.request().with("scope", "openid offline_access").with("prompt", "consent");
                    let mut refresh = provider.log_in(&party, &request).refresh.unwrap();
                    while !done.load(Ordering::Relaxed) {
                        let body = provider.refresh(&party, &refresh).expect(200).json();
                        let text = |name: &str| body[name].as_str().unwrap().to_owned();
                        let expected = Expected {
                            jwks: &kept,
                            algorithm: "RS256",
                            issuer: provider.issuer(),
                            audience: &party.id,
                            access_token: &text("access_token"),
                        };
                        judge_id_token(&text("id_token"), expected);
                        let by_new_key = [text("id_token"), text("access_token")]
                            .iter()
                            .filter(|token| !active.contains(&key_of(token)))
                            .count();
                        by_new_keys.fetch_add(by_new_key, Ordering::Relaxed);
                        refresh = text("refresh_token");
                    }
                });
            }
            // One day later, when the next keys start to sign.
            let day = if database.is_postgres() { "interval '1 day'" } else { "86400000000" };
            database.change(&format!("UPDATE signing_keys SET active_from = active_from - {day}"));
            let deadline = Instant::now() + NOTICED;
            while by_new_keys.load(Ordering::Relaxed) < 200 && Instant::now() < deadline {
                sleep(Duration::from_millis(50));
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(by_new_keys.into_inner() >= 200, "the new keys signed while tokens were made");
    }
}
