//! `/metrics`: what is counted, exactly once each, and what is never in it.

use std::collections::BTreeMap;
use std::thread;

use countersign_tests::http::Connection;
use countersign_tests::server::free_port;
use countersign_tests::{Database, Figures, Request, Server, Tokens, Wallet, on_both};

fn by_one<const N: usize>(names: [&str; N]) -> BTreeMap<String, f64> {
    names.into_iter().map(|name| (name.to_owned(), 1.0)).collect()
}

fn requests(route: &str, method: &str, status: &str) -> String {
    let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
    format!("http_server_request_duration_seconds_count{{{labels}}}")
}

/// Without the metrics of the storage, which other work of the server changes too.
fn grown(server: &Server, before: &Figures) -> BTreeMap<String, f64> {
    let mut grown = server.figures().grown_since(before);
    grown.retain(|name, _| !name.starts_with("countersign_storage_"));
    grown
}

on_both! {
    fn a_whole_sign_in_is_counted_once_in_each_place(database) {
        let server = database.start();
        let before = server.figures();
        let client = server.register();
        let tokens = server.tokens(&client);
        let refreshed = Tokens::of(server.refresh(&client, &tokens.refresh));
        server.userinfo(&refreshed.access).expect(200);
        let expected = by_one([
            "countersign_client_registered_total",
            "countersign_challenge_issued_total",
            "countersign_login_total{result=\"signed_in\",family=\"eip155\"}",
            "countersign_signature_verify_seconds_count{family=\"eip155\",result=\"valid\"}",
            "countersign_token_issued_total{grant=\"authorization_code\"}",
            "countersign_token_issued_total{grant=\"refresh_token\"}",
            &requests("/oauth/clients", "POST", "2xx"),
            &requests("/oauth/authorize", "GET", "3xx"),
            &requests("/oauth/challenge", "POST", "2xx"),
            &requests("/oauth/login", "POST", "3xx"),
            &requests("/oauth/userinfo", "GET", "2xx"),
        ]);
        let mut grown = grown(&server, &before);
        assert_eq!(grown.remove(&requests("/oauth/token", "POST", "2xx")), Some(2.0));
        assert_eq!(grown.remove("countersign_client_secret_total{secret=\"current\"}"), Some(2.0));
        assert_eq!(grown, expected);
    }

    fn refusals_and_thefts_are_counted_by_what_they_are(database) {
        let server = database.start();
        let client = server.register();
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let body = browser.prepare(&client, &wallet);
        let before = server.figures();
        browser.login(&body.clone().with("signature", "0x00")).expect(401);
        browser.login(&body.clone().with("challenge", "another text")).expect(401);
        let code = browser.login(&body).expect(303).answer("code").unwrap();
        let tokens = Tokens::of(server.exchange(&client, &code));
        server.refresh(&client, &tokens.refresh).expect(200);
        server.refresh(&client, &tokens.refresh).expect(400);
        server.exchange(&client, &code).expect(400);
        server.token(&client.exchange_form(&code).with("client_secret", "guess")).expect(401);
        server.token(&client.exchange_form(&code).with("grant_type", "password")).expect(400);
        let mut grown = grown(&server, &before);
        grown.retain(|name, _| !name.starts_with("http_"));
        let mut expected = by_one([
            "countersign_login_total{result=\"bad_signature\",family=\"eip155\"}",
            "countersign_login_total{result=\"bad_challenge\",family=\"eip155\"}",
            "countersign_login_total{result=\"signed_in\",family=\"eip155\"}",
            "countersign_signature_verify_seconds_count{family=\"eip155\",result=\"invalid\"}",
            "countersign_signature_verify_seconds_count{family=\"eip155\",result=\"valid\"}",
            "countersign_token_issued_total{grant=\"authorization_code\"}",
            "countersign_token_issued_total{grant=\"refresh_token\"}",
            "countersign_refresh_reuse_total",
            "countersign_code_reuse_total",
            "countersign_refused_total{reason=\"client_authentication\"}",
            "countersign_refused_total{reason=\"code\"}",
            "countersign_refused_total{reason=\"ended\"}",
            "countersign_refused_total{reason=\"unsupported\"}",
            "countersign_refused_total{reason=\"refresh_token\"}",
            "countersign_refused_total{reason=\"signature\"}",
            "countersign_token_errors_total{error=\"invalid_client\"}",
            "countersign_token_errors_total{error=\"unsupported_grant_type\"}",
        ]);
        expected.insert("countersign_token_errors_total{error=\"invalid_grant\"}".to_owned(), 2.0);
        expected.insert("countersign_client_secret_total{secret=\"current\"}".to_owned(), 4.0);
        assert_eq!(grown, expected);
    }

    /// B-074: labels contain no personal data.
    fn no_label_holds_what_belongs_to_somebody(database) {
        let server = database.start();
        let client = server.register();
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let code = browser.sign_in(&client, &wallet);
        let tokens = Tokens::of(server.exchange(&client, &code));
        for secret in [&code, &tokens.access, &tokens.refresh, &client.id, &wallet.address()] {
            server.send(&Request::new("BREW", &format!("/oauth/userinfo?token={secret}"))).expect(405);
            server.token(&client.exchange_form(&code).with("grant_type", secret)).expect(400);
        }
        // Paths are logged, and there must be no secrets in the log either.
        for path in ["", "/oauth/clients", "/assets", "/pictures"] {
            server.get(&format!("{path}/{}", client.id));
        }
        let text = server.get("/metrics").expect(200).text();
        assert_eq!(server.secrets.found_in(text.as_bytes()), [], "{text}");
        for other in [&client.id, &wallet.address(), &wallet.address().to_lowercase()] {
            assert!(!text.contains(other.as_str()), "{other} in {text}");
        }
        assert!(server.figures().values("method").contains(&"other"), "{text}");
    }
}

#[test]
fn paths_that_are_none_of_ours_share_one_label() {
    let server = Server::sqlite();
    server.get("/no/such/path").expect(404);
    let before = server.figures();
    for number in 0..50 {
        server.get(&format!("/made/up/{number}")).expect(404);
        server.get(&format!("/assets/made-up-{number}.css")).expect(404);
    }
    let grown = server.figures().grown_since(&before);
    let expected = [
        ("countersign_refused_total{reason=\"no_such_page\"}".to_owned(), 100.0),
        (requests("/assets/{name}", "GET", "4xx"), 50.0),
        (requests("other", "GET", "4xx"), 50.0),
    ];
    assert_eq!(grown, BTreeMap::from(expected));
}

#[test]
fn what_all_workers_answer_at_once_is_one_sum() {
    let server = Database::sqlite().server().with_env("COUNTERSIGN_WORKERS", "2").start();
    let before = server.figures();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut connection = Connection::open(server.address).unwrap();
                for _ in 0..25 {
                    let answer = connection.send(&server.authority(), &Request::get("/health/live")).unwrap();
                    assert_eq!(answer.status, 200);
                }
            });
        }
    });
    let expected = [(requests("/health/live", "GET", "2xx"), 200.0)];
    assert_eq!(server.figures().grown_since(&before), BTreeMap::from(expected));
}

#[test]
fn the_page_is_read_and_not_kept_and_readings_are_not_logged() {
    let server = Database::new_sqlite().start();
    let page = server.get("/metrics");
    assert_eq!(page.header("Cache-Control"), Some("no-store"));
    let figures = Figures::of(&page);
    assert!((5.0..1_000.0).contains(&(figures.get("process_resident_memory_bytes") / 1e6)), "{figures:?}");
    assert_eq!(figures.values("algorithm"), ["ES256", "EdDSA", "RS256"]);
    assert!(figures.get("countersign_signing_key_age_seconds{algorithm=\"ES256\"}") < 3600.0, "{figures:?}");
    assert!(figures.get("countersign_storage_commits_total") >= 1.0, "{figures:?}");
    let head = server.send(&Request::new("HEAD", "/metrics")).expect(200);
    assert!(head.body.is_empty() && head.header("Content-Type") == page.header("Content-Type"), "{head:?}");
    assert_eq!(server.send(&Request::new("POST", "/metrics")).expect(405).header("Allow"), Some("GET, HEAD"));
    let log = String::from_utf8(server.log()).unwrap();
    let told = log.lines().filter(|line| line.contains("/metrics") && line.contains("answered"));
    assert_eq!(told.count(), 0, "{log}");
}

#[test]
fn a_limit_that_held_is_counted() {
    let server = Database::sqlite().server().with_env("COUNTERSIGN_RATE_LIMIT", "on").start();
    let registration = || countersign_tests::Site::registration(&serde_json::json!({}));
    let refused = (0..200).filter(|_| server.send(&registration()).status == 429).count();
    assert!(refused > 100, "{refused}");
    let counted = server.figures().get("countersign_rate_limited_total{limit=\"registration\"}");
    assert_eq!(counted as usize, refused);
}

#[test]
fn routes_are_told_without_the_path_of_the_public_url() {
    let port = free_port();
    let server =
        Database::sqlite().server().with_public_url(&format!("http://localhost:{port}/sign/in")).start();
    server.get("/sign/in/oauth/jwks").expect(200);
    server.get("/metrics").expect(404);
    assert_eq!(server.figures().get(&requests("/oauth/jwks", "GET", "2xx")), 1.0);
}

#[test]
fn there_is_no_page_where_it_is_off() {
    let server = Database::sqlite().server().with_env("COUNTERSIGN_METRICS", "off").start();
    assert_eq!(server.get("/metrics").verdict(), "404 invalid_request");
}

#[test]
fn a_listener_of_its_own_shows_the_page_and_nothing_else() {
    let own = format!("127.0.0.1:{}", free_port());
    let server = Database::sqlite().server().with_env("COUNTERSIGN_METRICS_LISTEN", &own).start();
    let ask = |method: &str, path: &str| {
        Connection::open(own.parse().unwrap()).unwrap().send_last(&own, &Request::new(method, path)).unwrap()
    };
    assert_eq!(server.get("/metrics").verdict(), "404 invalid_request");
    let figures = Figures::of(&ask("GET", "/metrics"));
    assert_eq!(figures.get(&requests("/metrics", "GET", "4xx")), 1.0);
    assert_eq!(ask("HEAD", "/metrics").status, 200);
    assert_eq!(ask("POST", "/metrics").status, 405);
    for path in ["/", "/oauth/jwks", "/health/live", "/oauth/token"] {
        assert_eq!(ask("GET", path).status, 404, "{path}");
    }
    server.sign_in(&server.register());
    let figures = Figures::of(&ask("GET", "/metrics"));
    assert_eq!(figures.get("countersign_login_total{result=\"signed_in\",family=\"eip155\"}"), 1.0);
}
