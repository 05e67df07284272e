//! Clients that authenticate with signatures: `private_key_jwt` (A-111, E-23, A-105, B-048).

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use countersign_conformance::jose::{ClientKey, sign_with_secret, unsigned};
use countersign_tests::{Client, Parameters, Request, Response, Server, Site, Tokens, on_both};
use serde_json::{Value, json};

const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const AT_ONCE: usize = 64;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Seconds since 1970 by the machine's clock, which clients use.
#[expect(clippy::disallowed_methods, reason = "a client uses its own machine's clock")]
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn claims(site: &Site, client: &Client) -> Value {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    json!({
        "iss": client.id, "sub": client.id, "aud": site.public_url, "iat": now(), "exp": now() + 60, "jti": format!("id-{id}")
    })
}

fn with(site: &Site, client: &Client, name: &str, value: Value) -> Value {
    let mut claims = claims(site, client);
    claims[name] = value;
    claims
}

fn register(site: &Site, keys: &Value) -> Client {
    let mut metadata = json!({ "token_endpoint_auth_method": "private_key_jwt", "scope": "profile" });
    metadata.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    site.register_with(&metadata)
}

fn asserted(form: Parameters, assertion: &str) -> Parameters {
    form.without("client_id").with("client_assertion_type", TYPE).with("client_assertion", assertion)
}

/// Revokes a token that does not exist. The response shows whether the client is authenticated, and nothing
/// changes.
fn proof(assertion: &str) -> Request {
    Request::form("/oauth/revoke", &asserted(Parameters::of(&[("token", "nothing")]), assertion))
}

fn prove(server: &Site, assertion: &str) -> Response {
    server.send(&proof(assertion))
}

/// A client's server with its keys, which counts the requests.
struct KeyServer {
    url: String,
    answer: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

impl KeyServer {
    fn new(answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://127.0.0.1:{}/jwks", listener.local_addr().unwrap().port());
        let (answer, asked) = (Arc::new(Mutex::new(answer)), Arc::new(AtomicUsize::new(0)));
        let (said, counted) = (Arc::clone(&answer), Arc::clone(&asked));
        thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = connection.read(&mut [0; 4096]);
                let _ = connection.write_all(said.lock().unwrap().as_bytes());
            }
        });
        Self { url, answer, asked }
    }

    fn say(&self, answer: String) {
        *self.answer.lock().unwrap() = answer;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn document(body: &Value) -> String {
    let body = body.to_string();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

on_both! {
    /// at the token endpoint and at revocation, with every algorithm, and never twice at any endpoint.
    fn a_111_e_23_an_assertion_is_good_once_on_all_replicas(database) {
        let server = database.start();
        let replica = server.replica();
        for algorithm in ["ES256", "EdDSA", "RS256", "PS256", "ES384"] {
            let key = ClientKey::generate(algorithm, "k");
            let client = register(&server, &json!({ "jwks": key.jwks() }));
            assert_eq!(client.secret, None);
            let assertion = key.sign(&claims(&server, &client));
            let form = asserted(client.exchange_form(&server.sign_in(&client)), &assertion);
            let tokens = Tokens::of(server.token(&form));
            for site in [&server, &replica] {
                assert_eq!(prove(site, &assertion).verdict(), "401 invalid_client");
            }
            let form = client.refresh_form(&tokens.refresh);
            let named = asserted(form, &key.sign(&claims(&server, &client))).with("client_id", &client.id);
            let tokens = Tokens::of(replica.token(&named));
            let form = asserted(client.revocation(&tokens.refresh), &key.sign(&claims(&server, &client)));
            server.send(&Request::form("/oauth/revoke", &form)).expect(200);
            assert_eq!(replica.userinfo(&tokens.access).verdict(), "401 invalid_token");
        }
    }

    /// E-23: many at once, on two replicas.
    fn e_23_of_many_uses_of_one_assertion_one_is_good(database) {
        let server = database.start();
        let replica = server.replica();
        let key = ClientKey::generate("ES256", "k");
        let client = register(&server, &json!({ "jwks": key.jwks() }));
        for _ in 0..4 {
            let request = proof(&key.sign(&claims(&server, &client)));
            let start = Barrier::new(AT_ONCE);
            let sites = [server.site(), replica.site()];
            let answers: Vec<Response> = thread::scope(|scope| {
                let asking: Vec<_> = (0..AT_ONCE).map(|place| {
                    let (site, request, start) = (&sites[place % 2], &request, &start);
                    scope.spawn(move || {
                        start.wait();
                        site.send(request)
                    })
                }).collect();
                asking.into_iter().map(|answer| answer.join().unwrap()).collect()
            });
            let (good, bad): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
            assert_eq!(good.len(), 1);
            assert!(bad.iter().all(|answer| answer.verdict() == "401 invalid_client"));
        }
    }

    /// every error has the same text, and nothing is used up.
    fn a_111_whatever_is_wrong_is_told_in_the_same_words(database) {
        // On loopback the client hears the exact cause.
        let server = database.server().with_public_url("https://auth.example").with_env("COUNTERSIGN_REGISTRATION", "open").start();
        let (key, other) = (ClientKey::generate("ES256", "k"), ClientKey::generate("ES256", "k"));
        let client = register(&server, &json!({ "jwks": key.jwks() }));
        let stranger = register(&server, &json!({ "jwks": other.jwks() }));
        let good = claims(&server, &client);
        let own = |name: &str, value: Value| key.sign(&with(&server, &client, name, value));
        let header = |header: Value| key.sign_with(&header, &good);
        let secret = key.jwks().to_string();
        let hs256 = json!({ "alg": "HS256", "kid": "k" });
        let wrong = [
            "garbage".to_owned(),
            "..".to_owned(),
            other.sign(&good),
            unsigned(&json!({ "alg": "none" }), &good),
            unsigned(&json!({ "alg": "ES256", "kid": "k" }), &good),
            sign_with_secret(&hs256, &good, secret.as_bytes()),
            sign_with_secret(&hs256, &good, &[key.jwk().to_string().as_bytes(), &[0; 32]].concat()),
            header(json!({ "alg": "RS256", "kid": "k" })),
            header(json!({ "alg": "ES256", "kid": "other" })),
            header(json!({ "alg": "ES256", "kid": "k", "crit": ["exp"] })),
            header(json!({ "alg": "ES256", "kid": "k", "typ": "dpop+jwt" })),
            other.sign_with(&json!({ "alg": "ES256", "kid": "k", "jwk": other.public() }), &good),
            other.sign_with(&json!({ "alg": "ES256", "kid": "k", "jku": "http://127.0.0.1:1/" }), &good),
            own("iss", json!(stranger.id)),
            own("sub", json!(stranger.id)),
            own("aud", json!("https://other.example")),
            own("aud", json!(format!("{}/", server.public_url))),
            own("aud", json!([server.public_url, "https://other.example"])),
            own("exp", json!(now() - 1)),
            own("exp", json!(now() + 600)),
            own("exp", json!("soon")),
            own("iat", json!(now() + 600)),
            own("nbf", json!(now() + 600)),
            own("jti", json!("")),
            own("jti", json!("x".repeat(300))),
            other.sign(&claims(&server, &Client { id: "0199b1f0-0000-7000-8000-000000000000".to_owned(), ..client.clone() })),
            key.sign(&claims(&server, &server.register())),
        ];
        let text = prove(&server, "x").text();
        for assertion in &wrong {
            let answer = prove(&server, assertion);
            assert_eq!((answer.status, answer.text()), (401, text.clone()), "{assertion}");
        }
        let form = asserted(Parameters::of(&[("token", "x")]), &key.sign(&good)).with("client_id", &stranger.id);
        assert_eq!(server.send(&Request::form("/oauth/revoke", &form)).verdict(), "401 invalid_client");
        let nothing = Parameters::of(&[("token", "x"), ("client_id", &client.id)]);
        for form in [nothing.clone(), nothing.with("client_secret", "x")] {
            assert_eq!(server.send(&Request::form("/oauth/revoke", &form)).verdict(), "401 invalid_client");
        }
        prove(&server, &key.sign(&good)).expect(200);
        let token_endpoint = format!("{}/oauth/token", server.public_url);
        for audience in [json!(token_endpoint), json!([token_endpoint])] {
            prove(&server, &own("aud", audience)).expect(401);
        }
        prove(&server, &own("aud", json!([server.public_url]))).expect(200);
    }
}

/// The client changes its keys: an assertion signed with a new key makes the server fetch them once.
#[test]
fn keys_are_fetched_and_once_more_when_they_changed() {
    let server = Server::sqlite();
    let (old, new) = (ClientKey::generate("ES256", "old"), ClientKey::generate("EdDSA", "new"));
    let keys = KeyServer::new(document(&old.jwks()));
    let client = register(&server, &json!({ "jwks_uri": keys.url }));
    for _ in 0..3 {
        prove(&server, &old.sign(&claims(&server, &client))).expect(200);
    }
    assert_eq!(keys.asked(), 1);
    keys.say(document(&new.jwks()));
    // The keys were fetched seconds ago, so they are not fetched again for a while, whoever signs.
    thread::sleep(std::time::Duration::from_secs(11));
    for _ in 0..3 {
        prove(&server, &new.sign(&claims(&server, &client))).expect(200);
    }
    assert_eq!(prove(&server, &old.sign(&claims(&server, &client))).verdict(), "401 invalid_client");
    assert_eq!(keys.asked(), 2);
}

/// B-048, E-31: key servers that respond with something else.
#[test]
fn b_048_keys_are_not_fetched_by_detours() {
    let server = Server::sqlite();
    let key = ClientKey::generate("ES256", "k");
    let inside = KeyServer::new(document(&key.jwks()));
    let mut padded = key.jwks();
    padded["padding"] = "x".repeat(64 * 1024).into();
    let answers = [
        format!("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", inside.url),
        document(&padded),
        document(&json!({ "keys": [key.jwk(), { "kty": "oct", "k": "AAAA" }] })),
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>".to_owned(),
        "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n".to_owned(),
        String::new(),
    ];
    for answer in answers {
        let keys = KeyServer::new(answer);
        let client = register(&server, &json!({ "jwks_uri": keys.url }));
        let refused = prove(&server, &key.sign(&claims(&server, &client)));
        assert_eq!(refused.verdict(), "401 invalid_client");
        assert!(keys.asked() >= 1);
    }
    assert_eq!(inside.asked(), 0);
}

/// B-048: a server on the internet connects to no private addresses.
#[test]
fn b_048_a_public_server_asks_nobody_on_its_machine() {
    let server = countersign_tests::Database::sqlite()
        .server()
        .with_env("COUNTERSIGN_REGISTRATION", "open")
        .with_public_url("https://auth.example.com")
        .start();
    let key = ClientKey::generate("ES256", "k");
    let keys = KeyServer::new(document(&key.jwks()));
    let port = keys.url.rsplit_once(':').unwrap().1.to_owned();
    for uri in
        [keys.url.clone(), format!("https://localhost:{port}"), format!("https://[::ffff:7f00:1]:{port}")]
    {
        let client = register(&server, &json!({ "jwks_uri": uri }));
        let refused = prove(&server, &key.sign(&claims(&server, &client)));
        assert_eq!(refused.verdict(), "401 invalid_client", "{uri}");
    }
    assert_eq!(keys.asked(), 0);
}

/// What a client that authenticates with a key must register.
#[test]
fn a_client_that_signs_registers_its_public_keys() {
    let server = Server::sqlite();
    let key = ClientKey::generate("ES256", "k");
    let mut private = key.jwks();
    private["keys"][0]["d"] = "AA".into();
    for keys in [
        json!({}),
        json!({ "jwks": { "keys": [] } }),
        json!({ "jwks": private }),
        json!({ "jwks": { "keys": [{ "kty": "oct", "k": "AAAA" }] } }),
        json!({ "jwks": key.jwks(), "jwks_uri": "https://client.example/jwks" }),
        json!({ "jwks": key.jwks(), "token_endpoint_auth_signing_alg": "HS256" }),
        json!({ "jwks_uri": "http://client.example/jwks" }),
    ] {
        let mut metadata = keys.clone();
        metadata["token_endpoint_auth_method"] = "private_key_jwt".into();
        let answer = server.send(&Site::registration(&metadata));
        assert_eq!(answer.verdict(), "400 invalid_client_metadata", "{keys}");
    }
    let named = json!({ "jwks": key.jwks(), "token_endpoint_auth_signing_alg": "ES256" });
    let client = register(&server, &named);
    let path = format!("/oauth/clients/{}", client.id);
    let shown = server.send(&Request::get(&path).bearer(&client.registration_token)).expect(200).json();
    assert_eq!(shown["token_endpoint_auth_method"], "private_key_jwt");
    assert_eq!(shown["token_endpoint_auth_signing_alg"], "ES256");
    assert_eq!(shown["jwks"], key.jwks());
    let discovery = server.get("/.well-known/openid-configuration").json();
    for endpoint in ["token", "revocation"] {
        let methods = &discovery[format!("{endpoint}_endpoint_auth_methods_supported")];
        assert!(methods.as_array().unwrap().contains(&"private_key_jwt".into()), "{discovery}");
        let algorithms = &discovery[format!("{endpoint}_endpoint_auth_signing_alg_values_supported")];
        assert_eq!(*algorithms, json!(["RS256", "PS256", "ES256", "ES384", "EdDSA"]));
    }
}
