//! Remembered sign-ins together with other tabs, other users and other sites (B-055 to B-070), over HTTP.
//! What only a browser can show is in `tests/peers/tabs.mjs`.

use countersign_tests::{Browser, Database, Parameters, Request, Server, Wallet, on_both};

use crate::account::{form, page, sign_in};
use crate::remembering::{go_on, login_cookie, remember, remembered, state_of};

/// Continues as a browser without scripts does: with every field of the form on the page.
fn press_continue(browser: &mut Browser, shown: &str) -> countersign_tests::Response {
    let (_, rest) =
        shown.split_once("id=\"continue-form\"").unwrap_or_else(|| panic!("there is no Continue in {shown}"));
    let attribute = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        Some(rest.split('"').next()?.replace("&#x2F;", "/").replace("&amp;", "&"))
    };
    let inputs = rest.split("</form>").next().unwrap_or_default().split("<input").skip(1);
    let fields = inputs.filter_map(|tag| Some((attribute(tag, "name")?, attribute(tag, "value")?)));
    let form = Request::form("/oauth/continue", &Parameters(fields.collect()));
    browser.send(form.header("Accept", "text/html"))
}

on_both! {
    /// B-061: signed scopes add up, and pressing a button never adds any.
    fn b_061_more_scopes_need_a_signature_and_fewer_need_none(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        let mut browser = remembered(&server, &client, &wallet);
        let wider = || client.authorization().with("scope", "profile email");
        let asked = wider();
        browser.authorize(&asked).expect(302);
        assert_eq!(state_of(&mut browser, "/auth"), "step-up");
        assert_eq!(go_on(&mut browser, &asked).verdict(), "400 invalid_request", "the page has no such button");
        remember(&mut browser, &asked, &wallet);
        for known in [wider(), client.authorization()] {
            browser.authorize(&known).expect(302);
            assert_eq!(state_of(&mut browser, "/auth"), "remembered");
            go_on(&mut browser, &known).expect(303);
        }
    }

    /// B-061: if a user revokes something elsewhere, it is also revoked in the tab that waits, on every
    /// replica. The request stays pending.
    fn what_is_ended_elsewhere_leaves_no_code_behind_a_waiting_button(database) {
        let server = database.start();
        let replica = server.replica();
        let client = server.register();
        let ways: [(&str, &[(&str, &str)]); 3] = [
            ("/account/sessions/end", &[("session", "all")]),
            ("/account/apps/revoke", &[("client_id", &client.id)]),
            ("/account/delete", &[("confirm", "yes")]),
        ];
        for (path, fields) in ways {
            let wallet = Wallet::fresh();
            let mut waiting = remembered(&server, &client, &wallet);
            let authorization = client.authorization();
            waiting.authorize(&authorization).expect(302);
            let shown = page(&mut waiting, "/auth");
            assert!(shown.contains("data-state=\"remembered\""), "{shown}");
            sign_in(&replica, &wallet).press(form(path, fields)).expect(303);
            let led = press_continue(&mut waiting, &shown).expect(303);
            assert!(led.location().starts_with("/auth?request="), "{path}: {led:?}");
            let full = page(&mut waiting, led.location());
            assert!(full.contains("id=\"login-form\"") && !full.contains("continue-form"), "{path}: {full}");
            press_continue(&mut waiting, &shown).expect(303);
            let text = waiting.challenge(&authorization, &wallet);
            let done = waiting.login(&Browser::login_body(&authorization, &wallet, &text)).expect(303);
            assert_eq!(done.answer("state").as_deref(), Some(authorization.get("state")), "{path}");
        }
    }

    /// B-062: the browser has one session, which belongs to the user who signed in last.
    fn whoever_signs_in_last_is_who_the_browser_remembers(database) {
        let server = database.start();
        let (client, ann, bob) = (server.register(), Wallet::fresh(), Wallet::fresh());
        let mut browser = remembered(&server, &client, &ann);
        let of_ann = browser.clone();
        remember(&mut browser, &client.authorization(), &bob);
        let shown = page(&mut browser, "/account");
        assert!(shown.contains(&bob.address()) && !shown.contains(&ann.address()), "{shown}");
        assert_eq!(of_ann.clone().send(Request::get("/account")).status, 302, "the earlier cookie no longer works");
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let offered = page(&mut browser, "/auth");
        assert!(offered.contains(&bob.address()) && !offered.contains(&ann.address()), "{offered}");
        assert_eq!(database.number("SELECT count(*) FROM login_sessions"), 1);
    }

    /// B-062: another user signed in in another tab. A page that offers to continue as Ann does not continue
    /// as Bob.
    fn a_button_that_names_one_account_never_continues_as_another(database) {
        let server = database.start();
        let (client, ann, bob) = (server.register(), Wallet::fresh(), Wallet::fresh());
        let mut browser = remembered(&server, &client, &ann);
        let waiting = client.authorization();
        browser.authorize(&waiting).expect(302);
        let shown = page(&mut browser, "/auth");
        assert!(shown.contains(&ann.address()) && !shown.contains(&bob.address()), "{shown}");
        remember(&mut browser, &client.authorization(), &bob);
        let pressed = press_continue(&mut browser, &shown);
        assert!(!pressed.text().contains("code="), "the page said {}, and the code is {}'s", ann.address(), bob.address());
    }

    /// B-065: after a reload, Back, a copied cookie or on another replica, one request gets one code. After a
    /// Deny it gets none.
    fn b_065_a_request_is_answered_once_and_the_page_says_so(database) {
        let server = database.start();
        let replica = server.replica();
        let client = server.register();
        let mut browser = remembered(&server, &client, &Wallet::fresh());
        let authorization = client.authorization();
        browser.authorize(&authorization).expect(302);
        let copy = browser.clone();
        go_on(&mut browser, &authorization).expect(303);
        let over = browser.send(Request::get("/auth").header("Accept", "text/html")).expect(400).text();
        assert!(over.contains("Missing or expired OAuth session"), "{over}");
        assert_eq!(go_on(&mut browser, &authorization).verdict(), "400 invalid_request");
        for site in [server.site(), replica.site()] {
            let again = go_on(&mut Browser { site, ..copy.clone() }, &authorization);
            assert_eq!((again.verdict().as_str(), again.header("Location")), ("400 invalid_request", None));
        }
        let denied = client.authorization();
        browser.authorize(&denied).expect(302);
        let answered = browser.press(Request::json("/oauth/deny", &denied.json())).expect(303);
        assert_eq!(answered.answered(), ["error", "error_description", "state", "iss"]);
        browser.send(Request::get("/auth")).expect(400);
        assert_eq!(go_on(&mut browser, &denied).verdict(), "400 invalid_request");
    }

    /// B-065: if another tab has a pending request, a tab whose request was answered does not show that one.
    fn b_065_a_page_whose_request_is_answered_shows_no_other_request(database) {
        let server = database.start();
        let (one, two) = (server.register(), server.register_at("https://two.example/cb"));
        let mut browser = server.browser();
        let (first, second) = (one.authorization(), two.authorization());
        browser.authorize(&second).expect(302);
        let address = browser.authorize(&first).expect(302).location().to_owned();
        assert!(address.starts_with("/auth?request="), "{address}");
        assert!(page(&mut browser, &address).contains("client.example"));
        browser.press(Request::json("/oauth/deny", &first.json())).expect(303);
        let back = browser.send(Request::get(&address).header("Accept", "text/html"));
        assert_eq!(back.status, 400, "{address} now shows what two.example asks");
        assert!(page(&mut browser, "/auth").contains("two.example"), "the other request is still pending");
    }

    /// B-057, B-064: knowing the page's URL is not enough to open it.
    fn b_064_a_copied_address_of_the_page_opens_nothing(database) {
        let server = database.start();
        let (client, other) = (server.register(), server.register_at("https://two.example/cb"));
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let mut browser = remembered(&server, &client, &ann);
        let authorization = client.authorization();
        browser.authorize(&other.authorization()).expect(302);
        let address = browser.authorize(&authorization).expect(302).location().to_owned();
        // A user who is not signed in, and another one who is remembered here as well.
        for mut stranger in [server.browser(), remembered(&server, &client, &bob)] {
            let nothing = stranger.send(Request::get(&address).header("Accept", "text/html")).expect(400).text();
            assert!(!nothing.contains("Photo Album") && !nothing.contains(&ann.address()), "{nothing}");
            assert_eq!(go_on(&mut stranger, &authorization).field("error_description"), "Missing or expired OAuth session");
        }
    }

    /// Changing the language in the middle changes the words, but neither the request nor the text to sign.
    fn a_language_chosen_in_the_middle_loses_nothing(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        let mut browser = server.browser();
        browser.authorize(&client.authorization()).expect(302);
        let authorization = client.authorization().with("ui_locales", "fr");
        let address = browser.authorize(&authorization).expect(302).location().to_owned();
        assert!(page(&mut browser, &address).contains("<html lang=\"fr\""));
        let text = browser.challenge(&authorization, &wallet);
        for chosen in ["ja", "ar", "de"] {
            let shown = page(&mut browser, &format!("{address}&lang={chosen}"));
            assert!(shown.contains(&format!("<html lang=\"{chosen}\"")), "{shown}");
            assert!(shown.contains(authorization.get("state")), "{chosen}: the same request");
        }
        assert!(page(&mut browser, &address).contains("<html lang=\"de\""), "the choice stays");
        let mut body = Browser::login_body(&authorization, &wallet, &text).json();
        body["remember"] = true.into();
        browser.send(Request::json("/oauth/login", &body)).expect(303);
        let authorization = client.authorization();
        let address = browser.authorize(&authorization).expect(302).location().to_owned();
        assert_eq!(state_of(&mut browser, &format!("{address}&lang=es")), "remembered");
        let another = page(&mut browser, &format!("{address}&another=1&lang=ja"));
        assert!(another.contains("name=\"another\" value=\"1\"") && another.contains("id=\"login-form\""), "{another}");
        go_on(&mut browser, &authorization).expect(303);
    }

    /// B-071: the cookie's secret is in the cookie and nowhere else. (The logs are searched when the server
    /// stops.)
    fn the_secret_of_a_session_stands_in_no_page_no_address_and_no_row(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        let mut browser = remembered(&server, &client, &wallet);
        let secret = login_cookie(&browser).unwrap().clone();
        let (wider, known) = (client.authorization().with("scope", "profile email"), client.authorization());
        let mut answers = Vec::new();
        for authorization in [&wider, &known] {
            answers.push(browser.authorize(authorization));
            answers.push(browser.send(Request::get("/auth").header("Accept", "text/html")));
        }
        for path in ["/account", "/account/data", "/account/events", "/", "/docs", "/verify", "/none", "/account/email/confirm?token=x"] {
            answers.push(browser.send(Request::get(path).header("Accept", "text/html")));
        }
        answers.push(browser.press(form("/account/email", &[("email", "nobody")])));
        answers.push(browser.press(form("/account/data", &[])));
        answers.push(go_on(&mut browser, &known));
        answers.push(browser.press(form("/account/sessions/end", &[("session", "this")])));
        for answer in &answers {
            let headers = answer.headers.iter().any(|(_, value)| value.contains(&secret[32..]));
            assert!(!headers && !answer.text().contains(&secret[32..]), "{answer:?}");
        }
        let dump = database.dump();
        assert!(!dump.windows(32).any(|window| window == &secret.as_bytes()[32..64]));
    }
}

/// B-062: if there are two cookies with one name, one is forged, and it is not known which.
#[test]
fn b_062_two_session_cookies_are_none() {
    let server = Server::sqlite();
    let (ours, theirs) = (server.register(), server.register_at("https://evil.example/cb"));
    let (mut victim, mut attacker) = (server.browser(), server.browser());
    victim.authorize(&ours.authorization()).expect(302);
    attacker.authorize(&theirs.authorization()).expect(302);
    let of = |browser: &Browser| format!("oauth_session={}", browser.cookies["oauth_session"]);
    for pair in [
        [of(&attacker), of(&victim)],
        [of(&victim), of(&attacker)],
        [of(&victim), "oauth_session=x".to_owned()],
    ] {
        let page = server.send(&Request::get("/auth").header("Cookie", &pair.join("; ")));
        assert_eq!(page.status, 400, "one of two cookies counted");
    }
}

/// ADR 0012, B-020: every page with wallets keeps its handle to the windows that it opens; all other pages
/// are isolated. That no page can be framed or cached is checked on each page that the tests load.
#[test]
fn only_pages_with_wallets_keep_the_windows_that_they_open() {
    let server = Server::sqlite();
    let (client, wallet) = (server.register(), Wallet::fresh());
    let mut browser = sign_in(&server, &wallet);
    remember(&mut browser, &client.authorization(), &wallet);
    let authorization = client.authorization();
    browser.authorize(&authorization).expect(302);
    let page = |path: &str| Request::get(path).header("Accept", "text/html");
    let account = [
        page("/account"),
        page("/account?done=signed_out"),
        page("/account/email/confirm?token=x"),
        form("/account/email", &[("email", "nobody")]),
        form(
            "/account/wallets/challenge",
            &[("change", "link"), ("wallet_address", &wallet.address()), ("other_wallet_address", "nobody")],
        ),
        page("/auth"),
    ];
    for request in account {
        let answer = browser.clone().press(request);
        assert!(answer.header("Content-Type").unwrap().starts_with("text/html"), "{answer:?}");
        assert_eq!(
            answer.header("Cross-Origin-Opener-Policy"),
            Some("same-origin-allow-popups"),
            "{answer:?}"
        );
        assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
    }
    let fields =
        Parameters::of(&["client_id", "redirect_uri", "state"].map(|name| (name, authorization.get(name))));
    let others = [
        page("/"),
        page("/docs"),
        page("/verify"),
        page("/none"),
        page("/authority"),
        page("/oauth/authorize"),
        Request::form("/oauth/continue", &fields).header("Accept", "text/html"),
    ];
    for request in others {
        let answer = browser.clone().press(request);
        assert_eq!(answer.header("Cross-Origin-Opener-Policy"), Some("same-origin"), "{answer:?}");
    }
}

/// B-067, B-068: nothing in a URL becomes markup.
#[test]
fn b_068_no_page_makes_markup_of_its_address() {
    let server = Server::sqlite();
    let (client, wallet) = (server.register(), Wallet::fresh());
    let mut browser = sign_in(&server, &wallet);
    browser.authorize(&client.authorization()).expect(302);
    let mark = "'\"><b>{{7*7}}</script>\u{2028}";
    let names = [
        "request",
        "another",
        "done",
        "token",
        "lang",
        "error",
        "error_description",
        "login_hint",
        "state",
        "redirect_uri",
        "text",
    ];
    for path in [
        "/auth",
        "/account",
        "/account/email/confirm",
        "/account/data",
        "/verify",
        "/",
        "/docs",
        "/playground",
        "/none",
        "/oauth/authorize",
    ] {
        for name in names {
            let request =
                Request::query(path, &Parameters::of(&[(name, mark)])).header("Accept", "text/html");
            let text = browser.clone().send(request).text();
            assert!(
                !text.contains("\"><b>") && !text.contains("'\"") && !text.contains("49</script>"),
                "{path}?{name}: {text}"
            );
        }
    }
}

/// B-070: a value from a request never becomes more than a value in a response header.
#[test]
fn b_070_line_breaks_and_other_controls_reach_no_header() {
    let server = Server::sqlite();
    let (client, wallet) = (server.register(), Wallet::fresh());
    let mut browser = sign_in(&server, &wallet);
    for control in ["\r\nX-Evil: 1", "\nSet-Cookie: evil=1", "\0", "\u{7f}", "\u{85}", "\u{2028}"] {
        let bad = format!("a{control}");
        for name in [
            "scope",
            "state",
            "nonce",
            "prompt",
            "max_age",
            "ui_locales",
            "login_hint",
            "redirect_uri",
            "response_type",
        ] {
            let answer = browser.clone().authorize(&client.authorization().with(name, &bad));
            assert!(
                matches!(answer.status, 302 | 400) && answer.header("X-Evil").is_none(),
                "{name}: {answer:?}"
            );
        }
        for (path, name) in [
            ("/auth", "request"),
            ("/auth", "lang"),
            ("/account", "done"),
            ("/account", "lang"),
            ("/account/email/confirm", "token"),
        ] {
            let answer = browser
                .send(Request::query(path, &Parameters::of(&[(name, &bad)])).header("Accept", "text/html"));
            let set = answer.all("Set-Cookie").any(|cookie| cookie.contains("evil"));
            assert!(!set && answer.header("X-Evil").is_none(), "{path}?{name}: {answer:?}");
        }
        let answer = browser.clone().send(form("/account/apps/revoke", &[("client_id", &bad)]));
        assert!(matches!(answer.status, 303 | 400 | 403) && answer.header("X-Evil").is_none(), "{answer:?}");
    }
}

/// B-062, B-064: over https, both cookies have names that no sibling domain can set, and cookies with plain
/// names are ignored.
#[test]
fn b_062_a_cookie_of_a_sibling_domain_is_nobodys_session() {
    let database = Database::sqlite();
    let server = database.server().with_env("COUNTERSIGN_REGISTRATION", "open");
    let server = server.with_public_url("https://auth.example.com").start();
    let (client, wallet) = (server.register(), Wallet::fresh());
    let mut browser = remembered(&server, &client, &wallet);
    let authorization = client.authorization();
    browser.authorize(&authorization).expect(302);
    assert!(browser.cookies.keys().all(|name| name.starts_with("__Host-")), "{:?}", browser.cookies.keys());
    let mut tossed = browser.clone();
    tossed.cookies =
        tossed.cookies.into_iter().map(|(name, value)| (name.replace("__Host-", ""), value)).collect();
    assert_eq!(tossed.clone().send(Request::get("/auth")).status, 400);
    assert_eq!(tossed.send(Request::get("/account")).status, 302);
    go_on(&mut browser, &authorization).expect(303);
}
