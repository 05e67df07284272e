//! Remembered sign-ins over HTTP: a click replaces the signature where the user has signed before, and
//! nowhere else.

use countersign_tests::{Browser, Client, Parameters, Request, Response, Site, Tokens, Wallet, on_both};

/// Signs in, and lets the browser remember it.
pub(crate) fn remember(browser: &mut Browser, authorization: &Parameters, wallet: &Wallet) -> Response {
    let body = browser.prepare_with(authorization, wallet);
    let mut body = body.json();
    body["remember"] = true.into();
    browser.send(Request::json("/oauth/login", &body)).expect(303)
}

/// A browser that remembers a user for a client.
pub(crate) fn remembered(site: &Site, client: &Client, wallet: &Wallet) -> Browser {
    let mut browser = site.browser();
    remember(&mut browser, &client.authorization(), wallet);
    browser
}

/// Presses Continue for a request that just started.
pub(crate) fn go_on(browser: &mut Browser, authorization: &Parameters) -> Response {
    let kept = ["client_id", "redirect_uri", "state"].map(|name| (name, authorization.get(name)));
    browser.press(Request::json("/oauth/continue", &Parameters::of(&kept).json()))
}

pub(crate) fn login_cookie(browser: &Browser) -> Option<&String> {
    browser.cookies.get("countersign_login")
}

/// The value of `data-state` on the page.
pub(crate) fn state_of(browser: &mut Browser, path: &str) -> String {
    let page = browser.send(Request::get(path).header("Accept", "text/html")).expect(200).text();
    let (_, after) = page.split_once("data-state=\"").unwrap();
    after.split('"').next().unwrap_or_default().to_owned()
}

on_both! {
    fn a_known_client_is_one_click_away_and_gets_ordinary_tokens(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        let mut browser = remembered(&server, &client, &wallet);
        let authorization = client.authorization().with("state", "again");
        browser.authorize(&authorization).expect(302);
        assert_eq!(state_of(&mut browser, "/auth"), "remembered");
        assert_eq!(state_of(&mut browser, "/auth?another=1"), "boot", "another wallet");
        let answered = go_on(&mut browser, &authorization).expect(303);
        assert_eq!(answered.answered(), ["code", "state", "iss"], "A-041");
        let tokens = Tokens::of(server.exchange(&client, &answered.answer("code").unwrap()));
        let told = server.userinfo(&tokens.access).expect(200);
        assert_eq!(told.field("address"), wallet.address());
        assert_eq!(go_on(&mut browser, &authorization).expect(400).error(), "invalid_request", "B-065");
    }

    fn a_form_without_scripts_continues_by_a_page(database) {
        let server = database.start();
        let client = server.register();
        let mut browser = remembered(&server, &client, &Wallet::fresh());
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let kept = ["client_id", "redirect_uri", "state"].map(|name| (name, authorization.get(name)));
        let form = Request::form("/oauth/continue", &Parameters::of(&kept)).header("Accept", "text/html");
        let form = browser.filled(form);
        let page = browser.send(form.clone()).expect(200).text();
        assert!(page.contains("code="), "{page}");
        browser.send(form).expect(400);
        // The user signed out in the meantime. The form leads back to the page, which asks for a signature.
        browser.authorize(&authorization.clone().with("state", "next")).expect(302);
        let kept = kept.map(|(name, value)| (name, if name == "state" { "next" } else { value }));
        let form = Request::form("/oauth/continue", &Parameters::of(&kept)).header("Accept", "text/html");
        let form = browser.filled(form);
        browser.cookies.remove("countersign_login");
        let back = browser.send(form).expect(303);
        assert!(back.location().starts_with("/auth?request="), "{back:?}");
    }

    /// B-062, B-064, D-15: the cookie alone gives no access on any replica, and two cookies count as none.
    fn a_login_session_lives_on_every_replica_and_only_with_its_secret(database) {
        let server = database.start();
        let replica = server.replica();
        let client = server.register();
        let browser = remembered(&server, &client, &Wallet::fresh());
        let authorization = client.authorization();
        let mut elsewhere = Browser { site: replica.site(), ..browser.clone() };
        elsewhere.authorize(&authorization).expect(302);
        let pending = elsewhere.clone();
        let kept = ["client_id", "redirect_uri", "state"].map(|name| (name, authorization.get(name)));
        let pressed = elsewhere.filled(Request::json("/oauth/continue", &Parameters::of(&kept).json()));
        let secret = login_cookie(&browser).unwrap().clone();
        let another_end = if secret.ends_with('A') { "B" } else { "A" };
        for forged in [&secret[..63], &format!("{}{another_end}", &secret[..63]), "x"] {
            let mut thief = pending.clone();
            thief.cookies.insert("countersign_login".to_owned(), forged.to_owned());
            assert_eq!(thief.send(pressed.clone()).expect(401).error(), "access_denied");
        }
        let mut tossed = pending.clone();
        tossed.cookies.insert("countersign_login".to_owned(), format!("{secret}; countersign_login=x"));
        tossed.send(pressed).expect(401);
        go_on(&mut elsewhere, &authorization).expect(303);
    }

    /// A-034, B-061
    fn a_page_is_never_left_out_where_a_person_must_look(database) {
        let server = database.start();
        let (client, let_in) = (server.register(), database.let_in());
        let mut browser = remembered(&server, &client, &Wallet::fresh());
        let none = |client: &Client| client.authorization().with("prompt", "none");
        let asked = browser.authorize(&none(&client)).expect(302);
        assert_eq!(asked.answer("error").as_deref(), Some("consent_required"), "self-registered");
        let asked = browser.authorize(&none(&let_in)).expect(302);
        assert_eq!(asked.answer("error").as_deref(), Some("consent_required"), "the user has not allowed this yet");
        remember(&mut browser, &let_in.authorization(), &Wallet::fresh());
        let answered = browser.authorize(&none(&let_in)).expect(302);
        assert_eq!(answered.answered(), ["code", "state", "iss"]);
        let asked = browser.authorize(&none(&let_in).with("scope", "profile email")).expect(302);
        assert_eq!(asked.answer("error").as_deref(), Some("consent_required"), "a new scope");
        let asked = server.browser().authorize(&none(&let_in)).expect(302);
        assert_eq!(asked.answer("error").as_deref(), Some("login_required"));
        for (name, value) in [("prompt", "login"), ("prompt", "consent"), ("max_age", "0")] {
            let newer = let_in.authorization().with(name, value).with("state", value);
            browser.authorize(&newer).expect(302);
            assert_ne!(state_of(&mut browser, "/auth"), "remembered", "{name}={value}");
            go_on(&mut browser, &newer).expect(400);
        }
        let wider = let_in.authorization().with("scope", "profile email").with("state", "wider");
        browser.authorize(&wider).expect(302);
        assert_eq!(state_of(&mut browser, "/auth"), "step-up");
    }

    ///
    fn a_page_of_another_site_cannot_continue(database) {
        let server = database.start();
        let client = server.register();
        let mut browser = remembered(&server, &client, &Wallet::fresh());
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        for (name, value) in [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site")] {
            let request = Request::json("/oauth/continue", &serde_json::json!({})).header(name, value);
            browser.send(request).expect(403);
        }
        go_on(&mut browser, &authorization).expect(303);
    }
}

#[test]
fn a_022_the_cookie_of_a_session_is_out_of_reach_for_scripts_other_sites_and_plain_http() {
    let database = countersign_tests::Database::sqlite();
    let server = database.server().with_env("COUNTERSIGN_REGISTRATION", "open");
    let server = server.with_public_url("https://auth.example.com").start();
    let client = server.register();
    let mut browser = server.browser();
    let answered = remember(&mut browser, &client.authorization(), &Wallet::fresh());
    let cookie =
        answered.all("Set-Cookie").find(|cookie| cookie.starts_with("__Host-countersign_login=")).unwrap();
    let attributes: Vec<&str> = cookie.split("; ").skip(1).collect();
    for wanted in ["HttpOnly", "Secure", "SameSite=Lax", "Path=/", "Max-Age=86400"] {
        assert!(attributes.contains(&wanted), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
}

#[test]
fn where_nothing_shall_be_remembered_nothing_is() {
    let database = countersign_tests::Database::sqlite();
    let server = database.server().with_env("COUNTERSIGN_LOGIN_TTL", "0").start();
    let client = server.register();
    let mut browser = server.browser();
    remember(&mut browser, &client.authorization(), &Wallet::fresh());
    assert_eq!(login_cookie(&browser), None);
}
