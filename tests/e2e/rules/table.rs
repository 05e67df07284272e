//! The table of responses: a row for each rule of the HTTP interface. A change of a rule is visible in the
//! snapshot's diff.

use countersign_tests::site::{CODE_CHALLENGE, REDIRECT_URI};
use countersign_tests::{Browser, Parameters, Request, Server, Site, Tokens, Wallet, on_both};
use serde_json::json;

use super::sheet::Sheet;

on_both! {
    fn every_rule_answers_as_the_snapshot_says(database) {
        let server = database.start();
        let mut sheet = Sheet::new(&server);
        general(&mut sheet);
        registration(&mut sheet);
        configuration(&server, &mut sheet);
        authorization(&server, &mut sheet);
        page_and_challenge(&server, &mut sheet);
        login(&server, &mut sheet);
        exchange(&server, &mut sheet);
        refresh(&server, &mut sheet);
        userinfo(&server, &mut sheet);
        revocation(&server, &mut sheet);
        insta::assert_snapshot!("every_rule", sheet.finish());
    }
}

fn general(sheet: &mut Sheet<'_>) {
    sheet.chapter("All responses");
    sheet.ask("an unknown path", Request::get("/no/such/path"));
    sheet.ask("an unknown path, for a browser", Request::get("/no/such/path").header("Accept", "text/html"));
    for (method, path) in [
        ("GET", "/oauth/clients"),
        ("DELETE", "/oauth/authorize"),
        ("POST", "/auth"),
        ("GET", "/oauth/challenge"),
        ("GET", "/oauth/login"),
        ("GET", "/oauth/deny"),
        ("GET", "/oauth/token"),
        ("DELETE", "/oauth/userinfo"),
        ("GET", "/oauth/revoke"),
        ("POST", "/oauth/jwks"),
    ] {
        sheet.ask(&format!("{method} {path}"), Request::new(method, path));
    }
    sheet.ask(
        "a body over 64 KiB",
        Request::json("/oauth/clients", &json!({"client_name": "n".repeat(70_000)})),
    );
    sheet.ask("health, live", Request::get("/health/live"));
    sheet.ask("health, ready", Request::get("/health/ready"));
}

fn registration(sheet: &mut Sheet<'_>) {
    sheet.chapter("POST /oauth/clients");
    sheet.ask("a minimal registration", Site::registration(&json!({})));
    let whole = json!({
        "client_uri": "https://client.example/", "logo_uri": "https://client.example/logo.png", "scopes": ["profile", "email"],
        "response_types": ["code"], "grant_types": ["authorization_code"], "token_endpoint_auth_method": "client_secret_basic",
        "contacts": ["ops@client.example"], "tos_uri": "https://client.example/tos",
        "policy_uri": "https://client.example/privacy", "application_type": "web", "unknown_field": 1,
    });
    sheet.ask("a registration with everything", Site::registration(&whole));
    let public = json!({"token_endpoint_auth_method": "none", "scope": "profile openid"});
    sheet.ask("a public client", Site::registration(&public));
    for (rule, body) in [
        ("client_name is missing", json!({"redirect_uris": [REDIRECT_URI]})),
        ("redirect_uris is missing", json!({"client_name": "Photo Album"})),
        ("client_name is a number", json!({"client_name": 7, "redirect_uris": [REDIRECT_URI]})),
        ("redirect_uris is a string", json!({"client_name": "Photo Album", "redirect_uris": REDIRECT_URI})),
    ] {
        sheet.ask(rule, Request::json("/oauth/clients", &body));
    }
    sheet.ask("the body is not JSON", Request::new("POST", "/oauth/clients").typed("application/json", "{"));
    sheet.ask(
        "the body is a form",
        Request::form("/oauth/clients", &Parameters::of(&[("client_name", "Photo Album")])),
    );
    for (rule, metadata) in [
        ("no redirect URI", json!({"redirect_uris": []})),
        ("twenty-one redirect URIs", json!({"redirect_uris": vec![REDIRECT_URI; 21]})),
        ("a redirect URI with a fragment", json!({"redirect_uris": ["https://client.example/cb#x"]})),
        ("an http redirect URI to a public host", json!({"redirect_uris": ["http://client.example/cb"]})),
        ("a redirect URI with user information", json!({"redirect_uris": ["https://me@client.example/cb"]})),
        ("a redirect URI with a wildcard", json!({"redirect_uris": ["https://*.client.example/cb"]})),
        ("an empty name", json!({"client_name": "  "})),
        ("a name of 101 characters", json!({"client_name": "n".repeat(101)})),
        ("a name that changes the reading direction", json!({"client_name": "Photo\u{202e}Album"})),
        ("a client_uri that is a script", json!({"client_uri": "javascript:alert(1)"})),
        ("another response type", json!({"response_types": ["token"]})),
        ("an unknown scope", json!({"scopes": ["admin"]})),
        ("scope and scopes differ", json!({"scopes": ["profile"], "scope": "email"})),
        ("an unknown authentication method", json!({"token_endpoint_auth_method": "tls_client_auth"})),
        ("an unknown grant type", json!({"grant_types": ["password"]})),
    ] {
        sheet.ask(rule, Site::registration(&metadata));
    }
}

fn configuration(server: &Server, sheet: &mut Sheet<'_>) {
    sheet.chapter("/oauth/clients/{client_id}");
    let (client, other) = (server.register(), server.register());
    let path = format!("/oauth/clients/{}", client.id);
    sheet.ask("read", Request::get(&path).bearer(&client.registration_token));
    sheet.ask("read without a token", Request::get(&path));
    sheet.ask("read with another client's token", Request::get(&path).bearer(&other.registration_token));
    let changed =
        json!({"client_id": client.id, "client_name": "Film Album", "redirect_uris": [REDIRECT_URI]});
    let put = |body: &serde_json::Value| Request { method: "PUT".to_owned(), ..Request::json(&path, body) };
    sheet.ask("replace", put(&changed).bearer(&client.registration_token));
    let nameless = json!({"client_id": client.id, "redirect_uris": [REDIRECT_URI]});
    sheet.ask("replace without a name", put(&nameless).bearer(&client.registration_token));
    sheet.ask("replace with another client's token", put(&changed).bearer(&other.registration_token));
    sheet.ask(
        "delete with another client's token",
        Request::new("DELETE", &path).bearer(&other.registration_token),
    );
    sheet.ask("delete", Request::new("DELETE", &path).bearer(&client.registration_token));
    sheet.ask("read what was deleted", Request::get(&path).bearer(&client.registration_token));
}

fn authorization(server: &Server, sheet: &mut Sheet<'_>) {
    sheet.chapter("GET and POST /oauth/authorize");
    let (client, public) = (server.register(), server.register_public());
    let good = client.authorization();
    let ask = |parameters: Parameters| Request::query("/oauth/authorize", &parameters);
    sheet.ask("a good request", ask(good.clone()));
    sheet.ask("a good request, by POST", Request::form("/oauth/authorize", &good));
    for (rule, parameters) in [
        ("client_id is missing", good.clone().without("client_id")),
        ("client_id is unknown", good.clone().with("client_id", "00000000-0000-7000-8000-000000000000")),
        ("client_id is not a UUID", good.clone().with("client_id", "photos")),
        ("client_id is sent twice", good.clone().and("client_id", &client.id)),
        ("redirect_uri is missing", good.clone().without("redirect_uri")),
        ("redirect_uri is not registered", good.clone().with("redirect_uri", "https://evil.example/cb")),
        ("redirect_uri is sent twice", good.clone().and("redirect_uri", &client.redirect_uri)),
        ("response_type is missing", good.clone().without("response_type")),
        ("another response_type", good.clone().with("response_type", "token")),
        ("scope is missing", good.clone().without("scope")),
        ("scope is unknown", good.clone().with("scope", "admin")),
        ("scope is not registered for the client", good.clone().with("scope", "openid")),
        ("scope is sent twice", good.clone().and("scope", "email")),
        ("state is missing", good.clone().without("state")),
        ("state is sent twice", good.clone().and("state", "again")),
        (
            "PKCE with plain",
            good.clone().with("code_challenge", CODE_CHALLENGE).with("code_challenge_method", "plain"),
        ),
        (
            "a code_challenge of another length",
            good.clone().with("code_challenge", "short").with("code_challenge_method", "S256"),
        ),
        (
            "PKCE instead of state and scope",
            good.clone()
                .without("state")
                .without("scope")
                .with("code_challenge", CODE_CHALLENGE)
                .with("code_challenge_method", "S256"),
        ),
        (
            "a public client without PKCE",
            public.authorization().without("code_challenge").without("code_challenge_method"),
        ),
        ("prompt=none", good.clone().with("prompt", "none")),
        ("prompt=none and another value", good.clone().with("prompt", "none login")),
        ("max_age is negative", good.clone().with("max_age", "-1")),
        ("a request object", good.clone().with("request", "e30.e30.")),
        ("a request object by reference", good.clone().with("request_uri", "https://client.example/r")),
        ("another response_mode", good.clone().with("response_mode", "fragment")),
        ("an unknown parameter", good.clone().with("display", "popup").with("anything", "1")),
    ] {
        sheet.ask(rule, ask(parameters));
    }
    sheet.ask(
        "client_id is unknown, for a browser",
        ask(good.clone().with("client_id", "photos")).header("Accept", "text/html"),
    );
    sheet.ask(
        "redirect_uri is not registered, for a browser",
        ask(good.with("redirect_uri", "https://evil.example/cb")).header("Accept", "text/html"),
    );
}

fn page_and_challenge(server: &Server, sheet: &mut Sheet<'_>) {
    sheet.chapter("GET /auth and POST /oauth/challenge");
    let client = server.register();
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let good = client.authorization();
    sheet.ask("the page without a session", Request::get("/auth"));
    sheet.ask(
        "the page without a session, for a browser",
        Request::get("/auth").header("Accept", "text/html"),
    );
    sheet.ask("a challenge without a session", Browser::challenge_request(&good, &wallet.address()));
    browser.authorize(&good).expect(302);
    let mut with_session = |rule: &str, request: Request| {
        let response = browser.send(request);
        sheet.enter(rule, &response);
    };
    with_session("the page", Request::get("/auth"));
    with_session("a challenge", Browser::challenge_request(&good, &wallet.address()));
    with_session(
        "a challenge for the newest request",
        Request::json("/oauth/challenge", &json!({"wallet_address": wallet.address()})),
    );
    with_session("an address of no wallet family", Browser::challenge_request(&good, "somebody.eth"));
    with_session("wallet_address is missing", Request::json("/oauth/challenge", &json!({})));
    with_session(
        "wallet_address is a number",
        Request::json("/oauth/challenge", &json!({"wallet_address": 7})),
    );
    with_session(
        "another state",
        Browser::challenge_request(&good.clone().with("state", "another"), &wallet.address()),
    );
}

fn login(server: &Server, sheet: &mut Sheet<'_>) {
    sheet.chapter("POST /oauth/login and POST /oauth/deny");
    let client = server.register();
    let (mut browser, wallet, other) = (server.browser(), Wallet::fresh(), Wallet::fresh());
    let good = client.authorization();
    let body = browser.prepare_with(&good, &wallet);
    let signature = body.get("signature").to_owned();
    sheet.ask("no session", Request::json("/oauth/login", &body.json()));
    sheet.ask(
        "no session, for a browser",
        Request::json("/oauth/login", &body.json()).header("Accept", "text/html"),
    );
    let foreign_text = format!("{} and all my funds", body.get("challenge"));
    for (rule, attempt) in [
        ("an unknown client", body.clone().with("client_id", "00000000-0000-7000-8000-000000000000")),
        ("another redirect_uri", body.clone().with("redirect_uri", "https://evil.example/cb")),
        ("another state", body.clone().with("state", "another")),
        (
            "a text that the server did not issue",
            body.clone().with("challenge", &foreign_text).with("signature", &wallet.sign(&foreign_text)),
        ),
        ("another address", body.clone().with("wallet_address", &other.address())),
        ("another wallet's signature", body.clone().with("signature", &other.sign(body.get("challenge")))),
        ("a signature of another length", body.clone().with("signature", &signature[..100])),
        ("a signature that is a word", body.clone().with("signature", "please")),
        ("wallet_address is missing", body.clone().without("wallet_address")),
        ("challenge is missing", body.clone().without("challenge")),
        ("signature is missing", body.clone().without("signature")),
        ("client_id is missing", body.clone().without("client_id")),
        ("redirect_uri is missing", body.clone().without("redirect_uri")),
    ] {
        let response = browser.login(&attempt);
        sheet.enter(rule, &response);
    }
    let mut number = body.json();
    number["signature"] = json!(7);
    let response = browser.send(Request::json("/oauth/login", &number));
    sheet.enter("signature is a number", &response);
    let before = browser.clone();
    let response = browser.login(&body);
    sheet.enter("a good signature", &response);
    let response = before.clone().login(&body);
    sheet.enter("the same again", &response);
    let mut browser = server.browser();
    let body = browser.prepare_with(&good, &wallet);
    let response =
        browser.send(Request::json("/oauth/login", &body.json()).header("Accept", "application/json"));
    assert!(response.field("redirect_to").starts_with(REDIRECT_URI));
    assert_eq!(response.json().as_object().unwrap().len(), 1);

    let denial = good.clone().without("response_type").without("scope");
    sheet.ask("deny without a session", Request::form("/oauth/deny", &denial));
    let mut browser = server.browser();
    browser.authorize(&good).expect(302);
    let response = browser.press(Request::form("/oauth/deny", &denial));
    sheet.enter("deny", &response);
}

fn exchange(server: &Server, sheet: &mut Sheet<'_>) {
    sheet.chapter("POST /oauth/token with a code");
    let (client, other) = (server.register(), server.register());
    let code = server.sign_in(&client);
    let good = client.exchange_form(&code);
    let ask = |form: Parameters| Request::form("/oauth/token", &form);
    sheet.ask("a JSON body", Request::json("/oauth/token", &good.json()));
    for name in ["grant_type", "code", "redirect_uri", "client_id", "client_secret"] {
        sheet.ask(&format!("{name} is missing"), ask(good.clone().without(name)));
    }
    for (rule, form) in [
        ("another grant type", good.clone().with("grant_type", "password")),
        ("an unknown client", good.clone().with("client_id", "00000000-0000-7000-8000-000000000000")),
        ("a wrong secret", good.clone().with("client_secret", "wrong")),
        ("an unknown code", good.clone().with("code", &"A".repeat(64))),
        ("another client's code", other.exchange_form(&code)),
        ("another redirect_uri", good.clone().with("redirect_uri", "https://client.example/other")),
        (
            "a verifier without a challenge",
            good.clone().with("code_verifier", countersign_tests::site::VERIFIER),
        ),
        ("a parameter twice", good.clone().and("code", &code)),
    ] {
        sheet.ask(rule, ask(form));
    }
    let bare = good.clone().without("client_id").without("client_secret");
    sheet.ask("a wrong secret with Basic", ask(bare.clone()).basic(&client.id, "wrong"));
    sheet.ask(
        "after all of that, the code is still valid",
        ask(bare).basic(&client.id, client.secret.as_deref().unwrap()),
    );
    sheet.ask("a used code", ask(good));

    let public = server.register_public();
    let code = server.sign_in(&public);
    sheet.ask("a wrong verifier", ask(public.exchange_form(&code).with("code_verifier", &"a".repeat(43))));
    sheet.ask("the right one afterwards: the code is used up", ask(public.exchange_form(&code)));
    let refreshless = server.register_with(&json!({"grant_types": ["authorization_code"]}));
    let code = server.sign_in(&refreshless);
    sheet.ask("a client that may not refresh gets no refresh token", ask(refreshless.exchange_form(&code)));
}

fn refresh(server: &Server, sheet: &mut Sheet<'_>) {
    sheet.chapter("POST /oauth/token with a refresh token");
    let (client, other) = (server.register(), server.register());
    let authorization = client.authorization();
    let code = server.browser().sign_in_with(&authorization, &Wallet::fresh());
    let tokens = Tokens::of(server.exchange(&client, &code));
    let good = client.refresh_form(&tokens.refresh);
    let ask = |form: Parameters| Request::form("/oauth/token", &form);
    let refreshless = server.register_with(&json!({"grant_types": ["authorization_code"]}));
    sheet.ask("refresh_token is missing", ask(good.clone().without("refresh_token")));
    sheet.ask("a client that may not refresh", ask(refreshless.refresh_form(&tokens.refresh)));
    sheet.ask("another client's token", ask(other.refresh_form(&tokens.refresh)));
    sheet.ask("an unknown token", ask(client.refresh_form(&"A".repeat(64))));
    sheet.ask("an access token", ask(client.refresh_form(&tokens.access)));
    sheet.ask("more scopes than were granted", ask(good.clone().with("scope", "profile email")));
    sheet.ask("a good refresh", ask(good.clone()));
    sheet.ask("a rotated token", ask(good));
}

fn userinfo(server: &Server, sheet: &mut Sheet<'_>) {
    sheet.chapter("GET and POST /oauth/userinfo");
    let client = server.register_with(&json!({"scopes": ["profile", "email", "openid"]}));
    let scoped = |scope: &str| {
        let code =
            server.browser().sign_in_with(&client.authorization().with("scope", scope), &Wallet::fresh());
        let body = server.exchange(&client, &code).expect(200);
        body.field("access_token")
    };
    let access = scoped("profile");
    let ask = |token: &str| Request::get("/oauth/userinfo").bearer(token);
    sheet.ask("a good token", ask(&access));
    sheet.ask("by POST", Request::new("POST", "/oauth/userinfo").bearer(&access));
    sheet.ask("with scope openid: no address", ask(&scoped("openid profile")));
    sheet.ask("with only scope email", ask(&scoped("email")));
    sheet.ask("no token", Request::get("/oauth/userinfo"));
    sheet.ask("a bad token", ask("bad"));
    server.revoke(&client, &access).expect(200);
    sheet.ask("a revoked token", ask(&access));
}

fn revocation(server: &Server, sheet: &mut Sheet<'_>) {
    sheet.chapter("POST /oauth/revoke");
    let (client, other) = (server.register(), server.register());
    let tokens = server.tokens(&client);
    let good = client.revocation(&tokens.refresh);
    let ask = |body: &Parameters| Request::json("/oauth/revoke", &body.json());
    for name in ["token", "client_id", "client_secret"] {
        sheet.ask(&format!("{name} is missing"), ask(&good.clone().without(name)));
    }
    sheet.ask("a wrong secret", ask(&good.clone().with("client_secret", "wrong")));
    sheet.ask("an unknown client", ask(&good.clone().with("client_id", "photos")));
    sheet.ask("another client's token", ask(&other.revocation(&tokens.refresh)));
    sheet.ask("an unknown token", ask(&client.revocation("nobody knows me")));
    sheet.ask("a good revocation", ask(&good));
    sheet.ask("the same again, as a form", Request::form("/oauth/revoke", &good));
    sheet.ask("invalid JSON", Request::new("POST", "/oauth/revoke").typed("application/json", "{"));
    sheet.ask("another content type", Request::new("POST", "/oauth/revoke").typed("text/plain", "token=1"));
}
