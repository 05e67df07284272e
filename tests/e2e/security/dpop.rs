//! Tokens that are bound to a key: DPoP (RFC 9449, A-110, E-35).

use std::sync::Barrier;
use std::thread;

use countersign_tests::jose::{SigningKey, claims_of, now, random_text};
use countersign_tests::openid::proof;
use countersign_tests::{Client, Parameters, Request, Response, Server, Site, Tokens, Wallet, on_both};
use serde_json::{Value, json};

const AT_ONCE: usize = 64;

fn unchanged(_: &mut Value, _: &mut Value) {}

/// Sends a form with a proof by this key. If the server requires a nonce, sends it again with one.
fn post(site: &Site, path: &str, form: &Parameters, key: &SigningKey) -> Response {
    let url = format!("{}{path}", site.public_url);
    let send = |nonce: Option<&str>| {
        let proof = proof(key, "POST", &url, nonce, None, unchanged);
        site.send(&Request::form(path, form).header("DPoP", &proof))
    };
    let first = send(None);
    assert_eq!(first.verdict(), "400 use_dpop_nonce");
    send(first.header("DPoP-Nonce"))
}

fn token(site: &Site, form: &Parameters, key: &SigningKey) -> Response {
    post(site, "/oauth/token", form, key)
}

/// Tokens that are bound to this key.
fn bound(site: &Site, client: &Client, key: &SigningKey) -> Tokens {
    let answer = token(site, &client.exchange_form(&site.sign_in(client)), key).expect(200);
    assert_eq!(answer.field("token_type"), "DPoP");
    Tokens::of(answer)
}

/// A current nonce, from the response to a proof without one.
fn nonce(site: &Site) -> String {
    let client = site.register_public();
    let form = client.exchange_form(&site.sign_in(&client));
    let url = format!("{}/oauth/token", site.public_url);
    let bare = proof(&SigningKey::es256(), "POST", &url, None, None, unchanged);
    let refused = site.send(&Request::form("/oauth/token", &form).header("DPoP", &bare));
    refused.header("DPoP-Nonce").unwrap().to_owned()
}

/// Calls userinfo with a token and a proof by a key, parts of which are changed.
fn asking(
    site: &Site,
    access: &str,
    key: &SigningKey,
    nonce: &str,
    change: impl Fn(&mut Value, &mut Value),
) -> Request {
    let url = format!("{}/oauth/userinfo", site.public_url);
    let proof = proof(key, "GET", &url, Some(nonce), Some(access), change);
    Request::get("/oauth/userinfo").header("Authorization", &format!("DPoP {access}")).header("DPoP", &proof)
}

fn at_once(server: &Server, replica: &Server, request: &Request) -> (Vec<Response>, Vec<Response>) {
    let start = Barrier::new(AT_ONCE);
    let sites = [server.site(), replica.site()];
    let answers: Vec<Response> = thread::scope(|scope| {
        let asking: Vec<_> = (0..AT_ONCE)
            .map(|place| {
                let (site, start) = (&sites[place % 2], &start);
                scope.spawn(move || {
                    start.wait();
                    site.send(request)
                })
            })
            .collect();
        asking.into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    answers.into_iter().partition(|answer| answer.status == 200)
}

on_both! {
    /// a proof works once at any endpoint, and the nonce of one replica works on the others.
    fn a_110_e_35_a_proof_is_good_once_on_all_replicas(database) {
        let server = database.start();
        let replica = server.replica();
        let (client, key) = (server.register(), SigningKey::es256());
        let tokens = bound(&server, &client, &key);
        assert_eq!(claims_of(&tokens.access)["cnf"], json!({ "jkt": key.thumbprint() }));
        let request = asking(&server, &tokens.access, &key, &nonce(&replica), unchanged);
        let good = server.send(&request).expect(200);
        assert!(good.header("DPoP-Nonce").is_some());
        for site in [&server, &replica] {
            let again = site.send(&request);
            assert_eq!(again.verdict(), "401 invalid_dpop_proof");
            let challenge = again.header("WWW-Authenticate").unwrap();
            assert!(challenge.starts_with("DPoP algs=\"") && challenge.contains("ES256"), "{challenge}");
        }
        let next = good.header("DPoP-Nonce").unwrap();
        replica.send(&asking(&server, &tokens.access, &key, next, unchanged)).expect(200);
    }

    /// E-35: many at once, on two replicas.
    fn e_35_of_many_uses_of_one_proof_one_is_good(database) {
        let server = database.start();
        let replica = server.replica();
        let (client, key) = (server.register(), SigningKey::es256());
        let (tokens, nonce) = (bound(&server, &client, &key), nonce(&server));
        for _ in 0..2 {
            let request = asking(&server, &tokens.access, &key, &nonce, unchanged);
            let (good, bad) = at_once(&server, &replica, &request);
            assert_eq!(good.len(), 1);
            assert!(bad.iter().all(|answer| answer.verdict() == "401 invalid_dpop_proof"));
        }
    }

    /// a stolen token cannot be used, and a stolen proof cannot be used for anything else.
    fn a_110_stolen_tokens_and_proofs_are_worth_nothing(database) {
        let server = database.start();
        let (client, key, thief) = (server.register(), SigningKey::es256(), SigningKey::es256());
        let (tokens, nonce) = (bound(&server, &client, &key), nonce(&server));
        let access = &tokens.access;
        let as_bearer = server.userinfo(access);
        assert_eq!(as_bearer.verdict(), "401 invalid_token");
        assert!(as_bearer.header("WWW-Authenticate").unwrap().starts_with("Bearer "));
        let form = Parameters::of(&[("access_token", access)]);
        let as_bearer = server.send(&Request::form("/oauth/userinfo", &form));
        assert_eq!(as_bearer.verdict(), "401 invalid_token");
        let naked = Request::get("/oauth/userinfo").header("Authorization", &format!("DPoP {access}"));
        assert_eq!(server.send(&naked).verdict(), "401 invalid_dpop_proof");
        let unbound = server.tokens(&client).access;
        let by_thief = asking(&server, access, &thief, &nonce, unchanged);
        let wrong_scheme = asking(&server, &unbound, &key, &nonce, unchanged);
        for request in [by_thief, wrong_scheme] {
            let refused = server.send(&request);
            assert_eq!(refused.verdict(), "401 invalid_token");
            assert!(refused.header("WWW-Authenticate").unwrap().starts_with("DPoP "));
        }
        let other_url = format!("{}/oauth/token", server.public_url);
        for (name, value) in [
            ("htm", json!("POST")),
            ("htu", json!(other_url)),
            ("ath", json!(random_text())),
            ("ath", json!(null)),
            ("iat", json!(now() - 3_600)),
            ("iat", json!(now() + 3_600)),
            ("jti", json!("")),
        ] {
            let change = |_: &mut Value, claims: &mut Value| claims[name] = value.clone();
            let refused = server.send(&asking(&server, access, &key, &nonce, change));
            assert_eq!(refused.verdict(), "401 invalid_dpop_proof", "{name} {value}");
        }
        let twice = asking(&server, access, &key, &nonce, unchanged).header("DPoP", "x.y.z");
        assert_eq!(server.send(&twice).verdict(), "401 invalid_dpop_proof");
        server.send(&asking(&server, access, &key, &nonce, unchanged)).expect(200);
    }

    /// a proof without a nonce of ours, or with an old one, gets the newest nonce in the response.
    fn a_110_a_nonce_of_ours_is_always_wanted(database) {
        let server = database.start();
        let (client, key) = (server.register(), SigningKey::es256());
        let tokens = bound(&server, &client, &key);
        for stale in ["", "made-up", &random_text()] {
            let refused = server.send(&asking(&server, &tokens.access, &key, stale, unchanged));
            assert_eq!(refused.verdict(), "401 use_dpop_nonce");
            assert!(refused.header("WWW-Authenticate").unwrap().contains("error=\"use_dpop_nonce\""));
            let fresh = refused.header("DPoP-Nonce").unwrap();
            server.send(&asking(&server, &tokens.access, &key, fresh, unchanged)).expect(200);
        }
    }

    /// the refresh tokens of public clients, and codes that name a key, require that key. A refusal
    /// uses nothing up.
    fn a_110_refresh_tokens_and_codes_are_bound(database) {
        let server = database.start();
        let replica = server.replica();
        let (client, key, thief) = (server.register_public(), SigningKey::es256(), SigningKey::es256());
        let tokens = bound(&server, &client, &key);
        let form = client.refresh_form(&tokens.refresh);
        assert_eq!(server.token(&form).verdict(), "400 invalid_request");
        assert_eq!(token(&replica, &form, &thief).verdict(), "400 invalid_grant");
        let next = Tokens::of(token(&replica, &form, &key));
        assert_eq!(claims_of(&next.access)["cnf"]["jkt"], key.thumbprint());

        let mut browser = server.browser();
        let request = client.authorization().with("dpop_jkt", &key.thumbprint());
        let code = browser.sign_in_with(&request, &Wallet::fresh());
        let form = client.exchange_form(&code);
        assert_eq!(server.token(&form).verdict(), "400 invalid_request");
        assert_eq!(token(&server, &form, &thief).verdict(), "400 invalid_grant");
        token(&replica, &form, &key).expect(200);
    }
}

/// Pages of other origins can send proofs and read nonces.
#[test]
fn a_009_proofs_and_nonces_pass_between_sites() {
    let server = Server::sqlite();
    for path in ["/oauth/token", "/oauth/par", "/oauth/userinfo"] {
        let preflight = server.send(&Request::new("OPTIONS", path));
        assert!(preflight.header("Access-Control-Allow-Headers").unwrap().contains("dpop"), "{path}");
        assert!(preflight.header("Access-Control-Expose-Headers").unwrap().contains("dpop-nonce"), "{path}");
    }
}

/// The metadata lists the algorithms for DPoP proofs.
#[test]
fn a_110_the_metadata_name_the_algorithms_of_proofs() {
    let server = Server::sqlite();
    let metadata = server.get("/.well-known/oauth-authorization-server").expect(200).json();
    assert_eq!(
        metadata["dpop_signing_alg_values_supported"],
        json!(["RS256", "PS256", "ES256", "ES384", "EdDSA"])
    );
}
