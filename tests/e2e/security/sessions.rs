//! The session cookie, tabs, swapped texts and other sites.

use countersign_tests::{Browser, Database, Request, Server, Tokens, Wallet, on_both};
use serde_json::json;

#[test]
fn a_022_the_cookie_is_ours_alone() {
    let server = Server::sqlite();
    let client = server.register();
    let begun = server.browser().authorize(&client.authorization()).expect(302);
    let cookie = begun.header("Set-Cookie").unwrap();
    assert!(cookie.starts_with("oauth_session="), "{cookie}");
    for readable in [client.id.as_str(), "client.example", "profile", "state-"] {
        assert!(!cookie.contains(readable), "E-30: {readable} is readable in {cookie}");
    }
    let age = cookie
        .split("Max-Age=")
        .nth(1)
        .and_then(|rest| rest.split(';').next())
        .and_then(|age| age.parse::<u32>().ok());
    assert!(age.is_none_or(|age| age <= 1800), "it lasts half an hour at most: {cookie}");

    let secure = Database::sqlite()
        .server()
        .with_public_url("https://auth.example.test")
        .with_env("COUNTERSIGN_REGISTRATION", "open")
        .start();
    let client = secure.register();
    let mut browser = secure.browser();
    let begun = browser.authorize(&client.authorization()).expect(302);
    let cookie = begun.header("Set-Cookie").unwrap();
    assert!(cookie.starts_with("__Host-oauth_session=") && cookie.contains("; Secure"), "{cookie}");
    assert_eq!(secure.tokens(&client).access.split('.').count(), 3, "signing in works behind https");
}

/// tabs do not affect each other.
#[test]
fn a_038_two_tabs_finish_each_with_its_own_state_and_code() {
    let server = Server::sqlite();
    let (one, two) = (server.register(), server.register_at("https://two.example/cb"));
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let (first, second) = (one.authorization(), two.authorization());
    browser.authorize(&first).expect(302);
    browser.authorize(&second).expect(302);
    let first_text = browser.challenge(&first, &wallet);
    let second_text = browser.challenge(&second, &wallet);
    assert!(first_text.contains("https://client.example") && second_text.contains("https://two.example"));
    // The text for one tab is not valid in the other.
    let crossed = Browser::login_body(&second, &wallet, &first_text);
    assert_eq!(browser.login(&crossed).verdict(), "401 access_denied");
    for (client, authorization, text) in [(&two, &second, second_text), (&one, &first, first_text)] {
        let done = browser.login(&Browser::login_body(authorization, &wallet, &text)).expect(303);
        assert!(done.location().starts_with(&client.redirect_uri));
        assert_eq!(done.answer("state").as_deref(), Some(authorization.get("state")));
        assert_eq!(server.exchange(client, &done.answer("code").unwrap()).status, 200);
    }
}

/// At least four requests can be pending in a session. When there are too many, the oldest is dropped.
#[test]
fn four_tabs_may_wait_at_once_and_the_oldest_gives_way() {
    let server = Server::sqlite();
    let client = server.register();
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let tabs: Vec<_> = (0..4).map(|_| client.authorization()).collect();
    for tab in &tabs {
        browser.authorize(tab).expect(302);
    }
    for tab in &tabs {
        let text = browser.challenge(tab, &wallet);
        browser.login(&Browser::login_body(tab, &wallet, &text)).expect(303);
    }
    let many: Vec<_> = (0..40).map(|_| client.authorization()).collect();
    for tab in &many {
        browser.authorize(tab).expect(302);
    }
    let oldest = browser.send(Browser::challenge_request(&many[0], &wallet.address()));
    assert_eq!(oldest.verdict(), "400 invalid_request", "the first of forty was dropped");
    let text = browser.challenge(&many[39], &wallet);
    browser.login(&Browser::login_body(&many[39], &wallet, &text)).expect(303);
}

/// A-039, B-068: parameters in the page's URL change nothing.
#[test]
fn a_039_only_the_session_says_who_asks() {
    let server = Server::sqlite();
    let (client, other) = (server.register(), server.register_with(&json!({"client_name": "Impostor"})));
    let mut browser = server.browser();
    let authorization = client.authorization();
    browser.authorize(&authorization).expect(302);
    let forged = other.authorization().with("redirect_uri", "https://evil.example/<script>");
    let page = browser.send(Request::query("/auth", &forged)).expect(200).text();
    assert!(page.contains("Photo Album") && !page.contains("Impostor") && !page.contains("evil.example"));
}

#[test]
fn a_040_a_query_of_8_kib_works_and_one_of_60_kib_is_refused() {
    let server = Server::sqlite();
    let client = server.register();
    let wide = client.authorization().with("anything", &"a".repeat(8 * 1024 - 400));
    assert_eq!(server.send(&Request::query("/oauth/authorize", &wide)).location(), "/auth");
    let wider = client.authorization().with("anything", &"a".repeat(60 * 1024));
    let request = Request::query("/oauth/authorize", &wider);
    let mut connection = countersign_tests::http::Connection::open(server.address).unwrap();
    let refused = connection.send_last(&server.authority(), &request).unwrap();
    assert!(matches!(refused.status, 413 | 414 | 431), "{refused:?}");
}

#[test]
fn a_046_without_a_live_request_there_is_no_page_and_no_loop() {
    let server = Server::sqlite();
    let mut browser = server.browser();
    for cookie in ["", "forged", "AAAA%3D", &"A".repeat(3000)] {
        browser.cookies.insert("oauth_session".to_owned(), cookie.to_owned());
        let refused = browser.clone().send(Request::get("/auth")).expect(400);
        assert!(refused.text().contains("Missing or expired OAuth session"), "{refused:?}");
    }
    let forgetful = Database::sqlite().server().with_env("COUNTERSIGN_SESSION_TTL", "1").start();
    let mut browser = forgetful.browser();
    let authorization = forgetful.register().authorization();
    browser.authorize(&authorization).expect(302);
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let refused = browser.send(Request::get("/auth")).expect(400);
    assert!(refused.text().contains("Missing or expired OAuth session"), "{refused:?}");
    let refused =
        browser.send(Browser::challenge_request(&authorization, &Wallet::fresh().address())).expect(400);
    assert_eq!(refused.field("error_description"), "Missing or expired OAuth session");
}

/// A cookie that was changed, or encrypted by another server, is ignored.
#[test]
fn a_cookie_that_is_not_sealed_by_this_server_is_none() {
    let (server, other) = (Server::sqlite(), Database::new_sqlite().start());
    let client = server.register();
    let mut browser = server.browser();
    browser.authorize(&client.authorization()).expect(302);
    let (name, value) =
        browser.cookies.first_key_value().map(|(name, value)| (name.clone(), value.clone())).unwrap();
    let mut foreign = browser.clone();
    foreign.site = other.site();
    assert_eq!(foreign.send(Request::get("/auth")).status, 400);
    let mut middle = value.into_bytes();
    let place = middle.len() / 2;
    middle[place] = if middle[place] == b'A' { b'B' } else { b'A' };
    browser.cookies.insert(name, String::from_utf8(middle).unwrap());
    assert_eq!(browser.send(Request::get("/auth")).status, 400);
}

/// other sites cannot call these endpoints.
#[test]
fn a_056_pages_of_other_sites_cannot_drive_a_sign_in() {
    let server = Server::sqlite();
    let client = server.register();
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let authorization = client.authorization();
    let body = browser.prepare_with(&authorization, &wallet);
    let foreign = [
        ("Origin", "https://evil.example"),
        ("Origin", "http://localhost:1"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ];
    for (name, value) in foreign {
        let requests = [
            Browser::challenge_request(&authorization, &wallet.address()),
            Request::json("/oauth/login", &body.json()),
            Request::form("/oauth/login", &body),
            Request::form("/oauth/deny", &authorization),
        ];
        for request in requests {
            let target = request.target.clone();
            let refused = browser.clone().send(request.header(name, value));
            assert_eq!(refused.verdict(), "403 invalid_request", "{name}: {value} at {target}");
        }
    }
    // A form on another site can send text without a CORS preflight. It is not accepted as JSON.
    let plain = Request::new("POST", "/oauth/login").typed("text/plain", body.json().to_string());
    assert_eq!(browser.clone().send(plain).status, 400);
    let ours = Request::json("/oauth/login", &body.json())
        .header("Origin", &server.public_url)
        .header("Sec-Fetch-Site", "same-origin");
    assert_eq!(browser.send(ours).status, 303);
}

/// the browser is redirected to the URI in the session, never to one in the body.
#[test]
fn a_052_a_login_cannot_choose_its_destination() {
    let server = Server::sqlite();
    let two = server.register_with(
        &json!({"redirect_uris": ["https://client.example/cb", "https://client.example/other"]}),
    );
    let (mut browser, wallet) = (server.browser(), Wallet::fresh());
    let body = browser.prepare_with(&two.authorization(), &wallet);
    let registered_too = body.clone().with("redirect_uri", "https://client.example/other");
    for wrong in [registered_too, body.clone().with("state", "another"), body.clone().without("state")] {
        let refused = browser.login(&wrong);
        assert_eq!((refused.verdict().as_str(), refused.header("Location")), ("400 invalid_request", None));
    }
    assert_eq!(browser.login(&body).status, 303);
}

on_both! {
    /// A-057, B-064: knowing everything except the cookie is not enough.
    fn a_057_a_request_that_somebody_else_began_is_useless_here(database) {
        let server = database.start();
        let client = server.register();
        let (mut attacker, mut victim) = (server.browser(), server.browser());
        let wallet = Wallet::fresh();
        let authorization = client.authorization();
        attacker.authorize(&authorization).expect(302);
        let asked = victim.send(Browser::challenge_request(&authorization, &wallet.address()));
        assert_eq!(asked.verdict(), "400 invalid_request");
        // A victim who signs the attacker's text and submits it from their own browser is not signed in
        // anywhere.
        let text = attacker.challenge(&authorization, &wallet);
        let body = Browser::login_body(&authorization, &wallet, &text);
        assert_eq!(victim.login(&body).field("error_description"), "Missing or expired OAuth session");
        victim.authorize(&authorization).expect(302);
        assert_eq!(victim.login(&body).verdict(), "401 access_denied", "B-003");
    }

    /// B-065: going back and forth after the sign-in.
    fn a_finished_sign_in_cannot_be_repeated(database) {
        let server = database.start();
        let client = server.register();
        let mut browser = server.browser();
        let body = browser.prepare(&client, &Wallet::fresh());
        let code = browser.login(&body).expect(303).answer("code").unwrap();
        assert_eq!(browser.send(Request::get("/auth")).status, 400);
        assert_eq!(browser.login(&body).field("error_description"), "Missing or expired OAuth session");
        assert_eq!(Tokens::of(server.exchange(&client, &code)).access.split('.').count(), 3);
    }
}
