//! What responses contain and what they do not. Most of it is checked on every response, by
//! `countersign_tests::invariants`. Here are the checks that need special requests.

use countersign_tests::{Database, Parameters, Request, Server, Wallet, on_both};
use serde_json::json;

/// no internal details, and nothing from the request is echoed.
#[test]
fn a_003_errors_repeat_neither_what_was_sent_nor_what_is_inside() {
    let server = Server::sqlite();
    let client = server.register();
    let mark = "<b>Zw4rk'\"";
    let answers = [
        server.send(&Request::query("/oauth/authorize", &client.authorization().with("client_id", mark))),
        server.send(&Request::query("/oauth/authorize", &client.authorization().with("redirect_uri", mark))),
        server.send(
            &Request::query("/oauth/authorize", &client.authorization().with("client_id", mark))
                .header("Accept", "text/html"),
        ),
        server.token(&client.exchange_form(mark)),
        server.token(&client.exchange_form("x").with("grant_type", mark)),
        server.refresh(&client, mark),
        server.revoke(&client, "x").expect(200),
        server.send(&Request::get("/oauth/userinfo").bearer("Zw4rk")),
        server.send(&Request::get("/Zw4rk")),
        server.send(&Request::json("/oauth/clients", &json!({"client_name": mark, "redirect_uris": [mark]}))),
        server.send(&Request::json("/oauth/challenge", &json!({"wallet_address": mark}))),
        server.send(&Request::json("/oauth/clients", &json!([]))),
        server.send(&Request::json("/oauth/login", &json!([mark]))),
        server.send(&Request::json("/oauth/revoke", &json!(mark))),
    ];
    for answer in answers {
        let text = answer.text();
        assert!(!text.contains("Zw4rk"), "{answer:?}");
        for inside in ["sqlite", "SELECT", "panicked", ".rs:", "diesel", "serde", "struct "] {
            assert!(!text.contains(inside), "{inside} in {answer:?}");
        }
    }
}

/// the page loads only our own files, and sends only to us.
#[test]
fn a_004_the_page_may_load_from_us_and_send_to_us_and_nothing_else() {
    let server = Server::sqlite();
    let client = server.register();
    let mut browser = server.browser();
    browser.authorize(&client.authorization()).expect(302);
    let pages = [
        browser.send(Request::get("/auth")).expect(200),
        server.send(&Request::get("/auth").header("Accept", "text/html")).expect(400),
        server.send(&Request::get("/none").header("Accept", "text/html")).expect(404),
        server.send(&Request::get("/docs").header("Accept", "text/html")).expect(200),
        server.send(&Request::get("/").header("Accept", "text/html")).expect(200),
    ];
    for page in pages {
        let policy = page.header("Content-Security-Policy").unwrap();
        assert!(policy.contains("form-action 'self'") || policy.contains("form-action 'none'"), "{policy}");
        let text = page.text();
        assert!(
            !text.contains("src=\"http") && !text.contains("src=\"//"),
            "B-069: the page loads nothing from another host"
        );
        assert!(!text.contains(" style=\"") && !text.contains(" onclick="), "the policy would forbid it");
        let inline = text
            .split("<script")
            .skip(1)
            .any(|script| !script.split('>').next().unwrap_or_default().contains("src="));
        assert!(!inline, "the policy would forbid an inline script");
    }
    assert_eq!(browser.send(Request::get("/auth")).header("Cache-Control"), Some("no-store"));
}

/// A-005, B-059: no redirect makes a browser send its form again.
#[test]
fn a_005_redirects_are_302_after_get_and_303_after_post() {
    let server = Server::sqlite();
    let client = server.register();
    let good = client.authorization();
    let bad = good.clone().with("scope", "admin");
    for (parameters, what) in [(&good, "good"), (&bad, "refused")] {
        assert_eq!(server.send(&Request::query("/oauth/authorize", parameters)).status, 302, "{what}");
        assert_eq!(server.send(&Request::form("/oauth/authorize", parameters)).status, 303, "{what}");
    }
    let mut browser = server.browser();
    let body = browser.prepare_with(&good, &Wallet::fresh());
    assert_eq!(browser.login(&body).status, 303);
}

#[test]
fn a_006_https_is_told_to_stay_and_http_is_not() {
    let https = Database::sqlite()
        .server()
        .with_public_url("https://auth.example.test")
        .with_env("COUNTERSIGN_REGISTRATION", "open")
        .start();
    let header = https.get("/auth").header("Strict-Transport-Security").map(ToOwned::to_owned);
    assert!(header.is_some_and(|header| header.starts_with("max-age=")));
    assert_eq!(Server::sqlite().get("/auth").header("Strict-Transport-Security"), None);
}

on_both! {
    fn a_007_head_and_unknown_methods_write_nothing(database) {
        let server = database.start();
        let client = server.register();
        let code = server.sign_in(&client);
        let before = database.rows();
        for path in ["/oauth/authorize", "/oauth/token", "/oauth/clients", "/oauth/login", "/oauth/userinfo", "/auth", "/none"] {
            for method in ["HEAD", "PATCH", "TRACE", "BREW"] {
                let form = client.exchange_form(&code);
                let mut request = Request::form(path, &form);
                request.method = method.to_owned();
                let response = server.send(&request);
                assert!(response.status >= 400, "{method} {path}: {response:?}");
            }
            let head = server.send(&Request::query(path, &client.authorization()));
            assert!(head.status < 500);
        }
        assert_eq!(database.rows(), before);
        assert_eq!(server.exchange(&client, &code).status, 200);
    }
}

/// CORS allows other origins to read the endpoints that browser clients call, and nothing else.
#[test]
fn a_009_other_origins_may_read_what_is_for_everybody_and_nothing_else() {
    let server = Server::sqlite();
    let client = server.register();
    let from = |request: Request| server.send(&request.header("Origin", "https://spa.example"));
    let open = [
        Request::get("/.well-known/openid-configuration"),
        Request::get("/.well-known/oauth-authorization-server"),
        Request::get("/oauth/jwks"),
        Request::form("/oauth/token", &client.exchange_form("x")),
        Request::get("/oauth/userinfo"),
        Request::json("/oauth/revoke", &client.revocation("x").json()),
    ];
    for request in open {
        let response = from(request.clone());
        assert_eq!(response.header("Access-Control-Allow-Origin"), Some("*"), "{}", request.target);
        assert_eq!(response.header("Access-Control-Allow-Credentials"), None, "{}", request.target);
        let preflight = from(
            Request::new("OPTIONS", &request.target)
                .header("Access-Control-Request-Method", &request.method)
                .header("Access-Control-Request-Headers", "authorization,content-type"),
        );
        assert!(matches!(preflight.status, 200 | 204), "{}: {preflight:?}", request.target);
        let methods = preflight.header("Access-Control-Allow-Methods").unwrap_or_default().to_uppercase();
        assert!(methods.contains(&request.method), "{}: {methods}", request.target);
        let headers = preflight.header("Access-Control-Allow-Headers").unwrap_or_default().to_lowercase();
        assert!(
            headers.contains("authorization") && headers.contains("content-type"),
            "{}: {headers}",
            request.target
        );
        assert_eq!(preflight.header("Access-Control-Allow-Credentials"), None);
    }
    let closed = [
        Request::query("/oauth/authorize", &client.authorization()),
        Request::get("/auth"),
        Request::json("/oauth/challenge", &json!({"wallet_address": Wallet::fresh().address()})),
        Request::json("/oauth/login", &json!({})),
        Request::form("/oauth/deny", &Parameters::default()),
        Request::json("/oauth/clients", &json!({})),
        Request::get("/health/ready"),
    ];
    for request in closed {
        let response = from(request.clone());
        assert_eq!(response.header("Access-Control-Allow-Origin"), None, "{}", request.target);
        let preflight = from(
            Request::new("OPTIONS", &request.target).header("Access-Control-Request-Method", &request.method),
        );
        assert_eq!(preflight.header("Access-Control-Allow-Origin"), None, "{}", request.target);
    }
}

#[test]
fn a_010_a_good_request_id_is_kept_and_a_bad_one_replaced() {
    let server = Server::sqlite();
    let answered = |id: &str| {
        let response = server.send(&Request::get("/health/live").header("X-Request-Id", id));
        response.header("X-Request-Id").unwrap().to_owned()
    };
    for good in ["a", "AZaz09_-", &"x".repeat(64)] {
        assert_eq!(answered(good), good);
    }
    for bad in ["", "a b", "a.b", "é", &"x".repeat(65), "<script>"] {
        assert_ne!(answered(bad), bad);
    }
    let first = server.get("/health/live").header("X-Request-Id").unwrap().to_owned();
    assert_ne!(
        server.get("/health/live").header("X-Request-Id"),
        Some(first.as_str()),
        "each request has its own id"
    );
}

/// The same error as a page for browsers, with the same status.
#[test]
fn a_browser_gets_every_error_as_a_page_with_the_same_status() {
    let server = Server::sqlite();
    let client = server.register();
    let requests = [
        Request::get("/none"),
        Request::new("DELETE", "/auth"),
        Request::get("/auth"),
        Request::query("/oauth/authorize", &client.authorization().with("client_id", "photos")),
        Request::query(
            "/oauth/authorize",
            &client.authorization().with("redirect_uri", "https://evil.example/"),
        ),
        Request::form("/oauth/login", &Parameters::of(&[("wallet_address", "x")])),
        Request::form("/oauth/deny", &client.authorization()),
        Request::json("/oauth/clients", &json!({})),
    ];
    let browser_accepts = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for request in requests {
        let json = server.send(&request);
        let page = server.send(&request.clone().header("Accept", browser_accepts));
        if json.header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")) {
            assert_eq!(
                (request.target.as_str(), json.status),
                ("/auth", 400),
                "the page is the same for everyone"
            );
            continue;
        }
        assert_eq!(page.status, json.status, "{}", request.target);
        assert!(
            page.header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")),
            "{}: {page:?}",
            request.target
        );
        assert!(
            page.text().contains(&format!("data-error=\"{}\"", json.error())),
            "{}: {page:?}",
            request.target
        );
        let prefers_json = server.send(&request.header("Accept", "application/json, text/html;q=0.5"));
        assert_eq!(prefers_json.header("Content-Type"), Some("application/json"));
    }
}

/// the log has the reason for the operator, also if the user gets an error page.
#[test]
fn a_010_an_error_that_is_shown_as_a_page_stands_in_the_log_with_its_code() {
    let mut server = Server::sqlite();
    let sent = Request::get("/auth").header("Accept", "text/html").header("X-Request-Id", "shown-as-a-page");
    server.send(&sent).expect(400);
    // The log is written after the responses. It is complete when the server has exited.
    assert!(server.terminate().success());
    let log = String::from_utf8(server.log()).unwrap();
    let line = log.lines().find(|line| line.contains("shown-as-a-page")).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("\"error\":\"invalid_request\"") && line.contains("refused"), "{line}");
}
