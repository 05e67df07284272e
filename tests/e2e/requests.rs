//! Pushed authorization requests (A-109, RFC 9126), and token introspection (A-094, A-095, B-060, RFC 7662).

use countersign_tests::{
    Client, Database, Parameters, Request, Response, Server, Site, Tokens, Wallet, on_both,
};
use serde_json::{Value, json};

fn push(site: &Site, client: &Client, authorization: &Parameters) -> Response {
    site.send(&Request::form("/oauth/par", &client.identify(authorization.clone())))
}

/// What the browser sends in place of a pushed request.
fn reference(client: &Client, request_uri: &str) -> Parameters {
    Parameters::of(&[("client_id", &client.id), ("request_uri", request_uri)])
}

fn pushed(site: &Site, client: &Client, authorization: &Parameters) -> Parameters {
    reference(client, &push(site, client, authorization).expect(201).field("request_uri"))
}

pub(crate) fn introspect(site: &Site, client: &Client, token: &str) -> Value {
    site.send(&Request::form("/oauth/introspect", &client.revocation(token))).expect(200).json()
}

fn nothing() -> Value {
    json!({"active": false})
}

on_both! {
    fn a_109_a_pushed_request_is_answered_like_any_other(database) {
        let server = database.start();
        for client in [server.register(), server.register_public()] {
            let authorization = client.authorization();
            let answer = push(&server, &client, &authorization).expect(201);
            assert!(answer.field("request_uri").starts_with("urn:ietf:params:oauth:request_uri:"), "{answer:?}");
            assert_eq!(answer.json()["expires_in"], json!(60));
            // All other parameters in the URL are ignored.
            let brought = reference(&client, &answer.field("request_uri"))
                .with("scope", "nonsense")
                .with("redirect_uri", "https://evil.example/")
                .with("state", "another");
            let mut browser = server.browser();
            let begun = browser.authorize(&brought).expect(302);
            assert!(begun.location().ends_with("/auth"), "{begun:?}");
            let wallet = Wallet::fresh();
            let challenge = browser.challenge(&authorization, &wallet);
            let answered = browser.login(&countersign_tests::Browser::login_body(&authorization, &wallet, &challenge)).expect(303);
            assert_eq!(answered.answer("state").as_deref(), Some(authorization.get("state")));
            Tokens::of(server.exchange(&client, &answered.answer("code").unwrap()));
        }
    }

    fn a_109_a_request_uri_is_good_once_and_for_its_client(database) {
        let server = database.start();
        let (client, other) = (server.register(), server.register());
        let brought = pushed(&server, &client, &client.authorization());
        let foreign = brought.clone().with("client_id", &other.id);
        let cut = brought.get("request_uri");
        let cut = reference(&client, &cut[..cut.len() - 1]);
        for bad in [&foreign, &cut, &reference(&client, "urn:ietf:params:oauth:request_uri:")] {
            assert_eq!(server.browser().authorize(bad).verdict(), "400 invalid_request_uri");
        }
        server.browser().authorize(&brought).expect(302);
        let again = server.browser().authorize(&brought);
        assert_eq!(again.verdict(), "400 invalid_request_uri");
        assert_eq!(again.header("Location"), None, "there is no known redirect URI");
    }

    fn a_109_a_request_uri_is_good_for_a_minute(database) {
        let server = database.start();
        let client = server.register();
        let brought = pushed(&server, &client, &client.authorization());
        let long_ago = if database.is_postgres() { "now() - interval '1 second'" } else { "0" };
        database.change(&format!("UPDATE pushed_requests SET expires_at = {long_ago}"));
        assert_eq!(server.browser().authorize(&brought).verdict(), "400 invalid_request_uri");
    }

    fn a_109_what_would_be_refused_is_not_kept(database) {
        let server = database.start();
        let (client, public) = (server.register(), server.register_public());
        let rows = database.rows();
        let good = client.authorization();
        for (parameters, verdict) in [
            (good.clone().with("redirect_uri", "https://evil.example/"), "400 invalid_request"),
            (good.clone().with("scope", "wallets"), "400 invalid_scope"),
            (good.clone().with("response_type", "token"), "400 unsupported_response_type"),
            (good.clone().with("request_uri", "urn:ietf:params:oauth:request_uri:x"), "400 invalid_request"),
            (good.clone().with("request", "x.y.z"), "400 request_not_supported"),
            (good.clone().and("state", "twice"), "400 invalid_request"),
            (good.clone().without("state"), "400 invalid_request"),
        ] {
            assert_eq!(push(&server, &client, &parameters).verdict(), verdict, "{parameters:?}");
        }
        let without_pkce = public.authorization().without("code_challenge").without("code_challenge_method");
        assert_eq!(push(&server, &public, &without_pkce).verdict(), "400 invalid_request");
        let wrong = client.identify(good.clone()).with("client_secret", "wrong");
        for refused in [wrong, good.clone(), good.clone().with("client_id", "nobody")] {
            let answer = server.send(&Request::form("/oauth/par", &refused));
            assert_eq!(answer.verdict(), "401 invalid_client", "{refused:?}");
        }
        assert_eq!(server.send(&Request::form("/oauth/par", &good.clone().without("client_id"))).verdict(), "400 invalid_request");
        assert_eq!(server.send(&Request::json("/oauth/par", &client.identify(good).json())).verdict(), "400 invalid_request");
        assert_eq!(server.get("/oauth/par").status, 405);
        assert_eq!(database.rows(), rows, "none of it was stored");
    }

    fn a_109_a_client_may_bind_itself_to_pushing(database) {
        let server = database.start();
        let client = server.register_with(&json!({"require_pushed_authorization_requests": true}));
        let authorization = client.authorization();
        let refused = server.browser().authorize(&authorization).expect(302);
        assert_eq!(refused.answer("error").as_deref(), Some("invalid_request"), "{refused:?}");
        assert_eq!(refused.answer("state").as_deref(), Some(authorization.get("state")));
        let begun = server.browser().authorize(&pushed(&server, &client, &authorization)).expect(302);
        assert!(begun.location().ends_with("/auth"), "{begun:?}");
    }

    fn a_094_a_token_is_told_about_to_its_client(database) {
        let server = database.start();
        let client = server.register();
        let tokens = server.tokens(&client);
        let user = server.userinfo(&tokens.access).expect(200);
        let facts = introspect(&server, &client, &tokens.access);
        assert_eq!(facts["active"], json!(true));
        assert_eq!(facts["scope"], json!("profile"));
        assert_eq!(facts["client_id"], json!(client.id));
        assert_eq!(facts["username"], json!(user.field("preferred_username")));
        assert_eq!(facts["sub"], json!(user.field("sub")));
        assert_eq!(facts["iss"], json!(server.public_url));
        assert_eq!(facts["aud"], json!(server.public_url));
        assert_eq!(facts["token_type"], json!("Bearer"));
        assert_eq!(facts["exp"].as_i64().unwrap() - facts["iat"].as_i64().unwrap(), 3600);
        assert_eq!(facts["jti"].as_str().unwrap().len(), 36);
        assert!(facts.get("cnf").is_none(), "{facts}");
        let refresh = introspect(&server, &client, &tokens.refresh);
        assert_eq!((&refresh["active"], &refresh["sub"]), (&json!(true), &facts["sub"]));
        assert!(refresh.get("token_type").is_none() && refresh.get("aud").is_none(), "{refresh}");
        let by_json = Request::json("/oauth/introspect", &client.revocation(&tokens.access).json());
        assert_eq!(server.send(&by_json).expect(200).json(), facts);
        let secret = client.secret.as_deref().unwrap();
        let by_basic = Request::form("/oauth/introspect", &Parameters::of(&[("token", &tokens.access)]));
        assert_eq!(server.send(&by_basic.basic(&client.id, secret)).expect(200).json(), facts);
    }

    /// B-060: introspection says nothing about the tokens of another client.
    fn a_094_of_every_other_token_nothing_is_told(database) {
        let server = database.start();
        let (client, other) = (server.register(), server.register());
        let tokens = server.tokens(&client);
        for token in [&tokens.access, &tokens.refresh] {
            assert_eq!(introspect(&server, &other, token), nothing(), "foreign");
        }
        let changed = format!("{}x", tokens.access);
        for token in ["unknown", "a.b.c", &changed, &tokens.refresh[..63], &"é".repeat(32)] {
            assert_eq!(introspect(&server, &client, token), nothing(), "{token}");
        }
        let rotated = Tokens::of(server.refresh(&client, &tokens.refresh));
        assert_eq!(introspect(&server, &client, &tokens.refresh), nothing(), "rotated");
        assert_eq!(introspect(&server, &client, &rotated.refresh)["active"], json!(true));
        server.revoke(&client, &rotated.refresh).expect(200);
        for token in [&tokens.access, &rotated.access, &rotated.refresh] {
            assert_eq!(introspect(&server, &client, token), nothing(), "revoked");
        }
        let old = server.tokens(&client).access;
        let long_ago = if database.is_postgres() { "now() - interval '1 second'" } else { "0" };
        database.change(&format!("UPDATE tokens SET access_expires_at = {long_ago}"));
        assert_eq!(introspect(&server, &client, &old), nothing(), "expired");
    }

    fn a_094_a_resource_is_told_about_the_tokens_that_are_for_it(database) {
        let server = database.start();
        let client = server.register();
        let resource = Client::of(&database.create_client(&[
            "--grant-type", "client_credentials", "--client-uri", "https://api.example",
        ]));
        let impostor = server.register_with(&json!({"client_uri": "https://api.example"}));
        for (named, is_told) in [("https://api.example", true), ("https://api.example/v1", false)] {
            let code = server.browser().sign_in_with(&client.authorization().with("resource", named), &Wallet::fresh());
            let tokens = Tokens::of(server.exchange(&client, &code));
            let facts = introspect(&server, &resource, &tokens.access);
            assert_eq!(introspect(&server, &impostor, &tokens.access), nothing(), "the client only claims to be the resource");
            assert_eq!(facts["active"], json!(is_told), "{named}: {facts}");
            assert_eq!(introspect(&server, &resource, &tokens.refresh), nothing(), "only the token's own client can introspect a refresh token");
            if is_told {
                assert_eq!((&facts["aud"], &facts["client_id"]), (&json!(named), &json!(client.id)));
            }
        }
    }

    fn a_094_nobody_without_credentials_introspects(database) {
        let server = database.start();
        let (client, public) = (server.register(), server.register_public());
        let tokens = server.tokens(&public);
        let token = Parameters::of(&[("token", &tokens.access)]);
        for form in [
            public.revocation(&tokens.access),
            token.clone(),
            token.clone().with("client_id", &client.id),
            token.clone().with("client_id", &client.id).with("client_secret", "wrong"),
            token.clone().with("client_id", "nobody"),
        ] {
            let refused = server.send(&Request::form("/oauth/introspect", &form));
            assert_eq!(refused.verdict(), "401 invalid_client", "{form:?}");
        }
        let by_bearer = Request::form("/oauth/introspect", &token).bearer(&tokens.access);
        assert_eq!(server.send(&by_bearer).verdict(), "401 invalid_client");
        let without = client.revocation("x").without("token");
        assert_eq!(server.send(&Request::form("/oauth/introspect", &without)).verdict(), "400 invalid_request");
    }
}

/// these endpoints accept only POST.
#[test]
fn a_095_what_is_posted_cannot_be_got() {
    let server = Server::sqlite();
    for path in ["/oauth/introspect", "/oauth/revoke", "/oauth/par", "/oauth/device_authorization"] {
        assert_eq!(server.get(&format!("{path}?token=x&callback=f")).status, 405, "{path}");
    }
}

#[test]
fn a_096_discovery_names_what_is_asked_and_sent_ahead() {
    let server = Server::sqlite();
    let metadata = server.get("/.well-known/oauth-authorization-server").expect(200).json();
    for (name, path) in [
        ("introspection_endpoint", "/oauth/introspect"),
        ("pushed_authorization_request_endpoint", "/oauth/par"),
        ("device_authorization_endpoint", "/oauth/device_authorization"),
    ] {
        assert_eq!(metadata[name], json!(format!("{}{path}", server.public_url)), "{name}");
    }
    assert_eq!(metadata["require_pushed_authorization_requests"], json!(false));
    let methods = metadata["introspection_endpoint_auth_methods_supported"].as_array().unwrap();
    assert!(!methods.is_empty() && !methods.contains(&json!("none")), "{methods:?}");
}

/// The client pushes to one replica, its user arrives at another, and both know which tokens are active.
#[test]
fn a_109_a_pushed_request_wanders_between_replicas() {
    let here = Server::postgres();
    let there = here.replica();
    let client = here.register();
    let brought = pushed(&here, &client, &client.authorization());
    there.browser().authorize(&brought).expect(302);
    assert_eq!(here.browser().authorize(&brought).verdict(), "400 invalid_request_uri");
    let tokens = here.tokens(&client);
    assert_eq!(introspect(&there, &client, &tokens.access)["active"], json!(true));
    here.revoke(&client, &tokens.access).expect(200);
    assert_eq!(introspect(&there, &client, &tokens.access), nothing(), "A-088");
}

/// B-076: this is the limit on rows that a client can create without proving who it is.
#[test]
fn b_076_requests_of_public_clients_are_limited() {
    let settings = Database::sqlite().server().with_env("COUNTERSIGN_RATE_LIMIT", "on");
    let server = settings.start();
    let (public, client) = (server.register_public(), server.register());
    let refused = (0..100).find(|_| push(&server, &public, &public.authorization()).status == 429);
    assert!(refused.is_some_and(|turns| turns >= 10), "{refused:?}");
    push(&server, &client, &client.authorization()).expect(201);
}
